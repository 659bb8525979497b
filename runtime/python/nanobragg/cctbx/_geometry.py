"""diffBragg's detector: panels, their turns and shifts."""

import numpy

from ..compat._simtbx_state import unit
from ._panels import Panels


class Geometry:
    """Members of diffBragg."""

    def get_origin(self):
        return tuple(float(x) * 1000 for x in self._panels.origin[self._panel_id])

    close_distances = property(lambda self: numpy.einsum("ij,ij->i", self._panels.origin, self._panels.normal).tolist())

    def shift_origin_z(self, detector, shift):
        """All panels stand where the detector has them, and this many m along z from there."""
        if shift != self._shift_z:
            self._panels = self._panels * 1.0
            self._panels.origin[:, 2] = [panel.get_origin()[2] / 1000 + shift for panel in detector]
            self._shift_z = shift

    def update_dxtbx_geoms(self, detector, beam, panel_id=0, panel_rot_angO=0, panel_rot_angF=0, panel_rot_angS=0, panel_offsetX=0,
                           panel_offsetY=0, panel_offsetZ=0, force=True):
        """A panel of the detector and the beam; the panel turned about reference_origin by angles
        (rad) about its normal, fast and slow axis and shifted (m)."""
        state, panel = self._state, detector[panel_id]
        state.take_beam(beam)
        if panel.get_image_size() != (state.fpixels, state.spixels):
            raise ValueError(f"panel {panel_id} has {panel.get_image_size()} pixels; all panels have as many as the first, {(state.fpixels, state.spixels)}")
        placed, turns = Panels.of_detector([panel], state.righthanded).turned((panel_rot_angO, panel_rot_angF, panel_rot_angS), self._reference)
        placed = placed + placed.shifted(numpy.array([panel_offsetX, panel_offsetY, panel_offsetZ], dtype=float))
        if not placed.origin[0] @ placed.normal[0] > 0:
            raise ValueError(f"panel {panel_id} of the detector lies behind the sample")
        self._panels = self._panels * 1.0
        self._panels.set(panel_id, placed)
        for whole, turn in zip(self._turns, turns):
            whole.set(panel_id, turn)
        self._panel_id = panel_id
        state.fast, state.slow, state.normal, state.origin = (getattr(placed, f)[0].copy() for f in ("fast", "slow", "normal", "origin"))
        state.Fclose = state.Xclose = -state.origin @ state.fast
        state.Sclose = state.Yclose = -state.origin @ state.slow
        state.close_distance = state.distance = state.origin @ state.normal
        center = numpy.linalg.inv(numpy.array([state.fast, state.slow, state.origin * 1000]).T) @ numpy.array(beam.get_s0())
        state.Xbeam, state.Ybeam = (center[:2] / center[2] / 1000).tolist()
        state.thick = panel.get_thickness()
        if panel.get_mu() > 0:
            state.attenuation = 1 / panel.get_mu()
        self.quantum_gain = panel.get_gain()
        state.spindle, state.ORGX, state.ORGY, state.user_beam = unit(state.fast), float("nan"), float("nan"), True
        state.init_beam()
        state.init_beamcenter()
        state.update_beamcenter()
