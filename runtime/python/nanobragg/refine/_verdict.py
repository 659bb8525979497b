"""Whether the result of a still can be trusted."""

import numpy

_SURE = 0.04  # variance of the logarithm of an intensity that is compared


def _scatter(explained):
    """The robust standard deviation of logarithms of intensities over the model's, of reflections whose photons say it."""
    sure = explained.precision * explained.ratio**2 > 1 / _SURE
    logs = numpy.log(explained.ratio[sure])
    return 1.4826 * float(numpy.median(numpy.abs(logs - numpy.median(logs)))) if sure.sum() > 10 else 0.0


def verdict(still):
    """"good", "doubtful" or "bad", and what speaks against the result."""
    if still.status == "rejected":
        return "bad", ""
    # Each measure, the limits of doubtful and bad, and its meaning.
    found = [(1 - still.indexed / still.spots, 0.2, 0.5, f"{still.spots - still.indexed} of {still.spots} spots are not indexed: further "
              "crystals, another crystal form, or a wrong detector"),
             (still.rms_px, 0.9, 1.5, f"bright spots are {still.rms_px:.2f} pixels from their reflections: a wrong detector, or another cell")]
    if still.margins:
        found.append((-still.margins[0], -3, -1, f"the choice of its indices is {still.margins[0]:.1f} sigmas likelier than the next: too few "
                      "spots, or structure factors that do not tell"))
    if result := still.explained:
        scatter = _scatter(result)
        found += [(scatter, 1.1, 1.5, f"intensities differ from the model's by a factor of {numpy.exp(scatter):.1f}: the other choice of an "
                   "ambiguous indexing, or another crystal"),
                  (result.chi2_profiles, 3, 10, f"chi-square is {result.chi2_profiles:.3g} with free intensities: spots have other shapes"),
                  (result.chi2_unseen, 2, 5, f"chi-square is {result.chi2_unseen:.3g} at reflections that should be seen and are not")]
    for limit, word in ((2, "bad"), (1, "doubtful")):
        for one in found:
            if one[0] > one[limit]:
                return word, one[3]
    return "good", ""
