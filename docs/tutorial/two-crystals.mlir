// Two crystals in one beam, the second rotated against the first by `mosaic_spread` about the spindle. All
// formulas are in the innermost body, for one sample of a pixel; making them fast is left to passes.
func.func @image(%cell_a: f64 {nb.name = "cell_a", nb.unit = "m"},
                 %misset_x: f64 {nb.name = "misset_x", nb.unit = "rad"},
                 %tilt: f64 {nb.name = "mosaic_spread", nb.unit = "rad"},
                 %ncells_a: f64 {nb.name = "ncells_a"},
                 %default_F: f64 {nb.name = "default_F", nb.unit = "electron"},
                 %spindle_axis: !nb.vec3<f64> {nb.name = "spindle_axis"},
                 %beam_direction: !nb.vec3<f64> {nb.name = "beam_direction"},
                 %wavelength: f64 {nb.name = "wavelength", nb.unit = "m"},
                 %distance: f64 {nb.name = "distance", nb.unit = "m"},
                 %beam_fast: f64 {nb.name = "beam_center_fast", nb.unit = "m"},
                 %beam_slow: f64 {nb.name = "beam_center_slow", nb.unit = "m"},
                 %fast_axis: !nb.vec3<f64> {nb.name = "fast_axis"},
                 %slow_axis: !nb.vec3<f64> {nb.name = "slow_axis"},
                 %normal_axis: !nb.vec3<f64> {nb.name = "normal_axis"},
                 %pixel_size: f64 {nb.name = "pixel_size", nb.unit = "m"},
                 %fast_pixels: index {nb.name = "fast_pixels"},
                 %slow_pixels: index {nb.name = "slow_pixels"},
                 %panel_count: index {nb.name = "panel_count"}) -> tensor<?x?x?xf64> {
  %one = arith.constant 1 : index
  %crystals = arith.constant 2 : index
  %zero = arith.constant 0.0 : f64
  %img = nb.image panel %panel in %panel_count, slow %slow in %slow_pixels, fast %fast in %fast_pixels : tensor<?x?x?xf64> {
    %I = nb.sum subfast %sub in %one, mosaic %crystal in %crystals : f64 {
      // The position of the pixel.
      %spot = nb.scale %beam_direction, %distance : !nb.vec3<f64>
      %to_fast = nb.scale %fast_axis, %beam_fast : !nb.vec3<f64>
      %to_slow = nb.scale %slow_axis, %beam_slow : !nb.vec3<f64>
      %edge = nb.sub %spot, %to_fast : !nb.vec3<f64>
      %corner = nb.sub %edge, %to_slow : !nb.vec3<f64>
      %Fdet = nb.detector_coordinate %fast, %sub, %one, %pixel_size : index, f64
      %Sdet = nb.detector_coordinate %slow, %sub, %one, %pixel_size : index, f64
      %position = nb.pixel_position %corner, %fast_axis, %slow_axis, %normal_axis at %Fdet, %Sdet, %zero : !nb.vec3<f64>
      %direction = nb.normalize %position : !nb.vec3<f64>
      %scattering = nb.scattering_vector %direction, %beam_direction, %wavelength : !nb.vec3<f64>
      // The orientation of this crystal.
      %number = arith.index_cast %crystal : index to i64
      %turns = arith.sitofp %number : i64 to f64
      %angle = arith.mulf %turns, %tilt : f64
      %turn = nb.axis_rotation %spindle_axis, %angle : !nb.vec3<f64>
      %right = arith.constant 1.5707963267948966 : f64
      %cell = nb.reciprocal_cell right %cell_a, %cell_a, %cell_a, %right, %right, %right : f64
      %misset = nb.euler_rotation %misset_x, %misset_x, %misset_x : f64
      %basis = nb.multiply %misset, %cell : !nb.mat3<f64>
      %direct = nb.direct_cell %basis : !nb.mat3<f64>
      %back = nb.transpose %turn : !nb.mat3<f64>
      %rotated = nb.multiply %direct, %back : !nb.mat3<f64>
      // The intensity that it scatters to the pixel.
      %hkl = nb.miller_index %rotated, %scattering : !nb.vec3<f64>
      %ncells = nb.vec %ncells_a, %ncells_a, %ncells_a : f64
      %F_latt = nb.lattice_factor square %hkl, %ncells : !nb.vec3<f64>
      %per_sample = nb.intensity %default_F, %F_latt : f64
      // Divided by the number of cells, and by distance and wavelength squared.
      %of_a = arith.divf %per_sample, %ncells_a : f64
      %of_b = arith.divf %of_a, %ncells_a : f64
      %of_c = arith.divf %of_b, %ncells_a : f64
      %at_one = arith.divf %of_c, %distance : f64
      %solid = arith.divf %at_one, %distance : f64
      %flux = arith.divf %solid, %wavelength : f64
      %share = arith.divf %flux, %wavelength : f64
      nb.yield %share : f64
    }
    nb.yield %I : f64
  }
  return %img : tensor<?x?x?xf64>
}
