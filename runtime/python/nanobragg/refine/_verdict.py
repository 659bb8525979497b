"""Whether the result of a still can be trusted."""

import numpy

from ._indices import SURE

_ALIKE = 5.0  # sigmas by which light is like the model's intensities where the crystal is certainly right


def _scatter(explained):
    """The robust standard deviation of logarithms of intensities over the model's, of reflections
    whose photons say it."""
    sure = explained.precision * explained.ratio**2 > 1 / SURE
    logs = numpy.log(explained.ratio[sure])
    return 1.4826 * float(numpy.median(numpy.abs(logs - numpy.median(logs)))) if sure.sum() > 10 else 0.0


def _against(still):
    """Reasons against a result: whether each makes it doubtful, whether bad, and a sentence."""
    left = still.spots - still.indexed
    yield (left > 0.2 * still.spots, left > 0.5 * still.spots,
           f"{left} of {still.spots} spots are not indexed: further crystals, another crystal form, or a wrong detector")
    yield (still.rms_px > 0.9, still.rms_px > 1.5,
           f"bright spots are {still.rms_px:.2f} pixels from their reflections: a wrong detector, or another cell")
    for margin in still.margins[:1]:
        yield (margin < 3, margin < 1, f"the choice of its indices is {margin:.1f} sigmas likelier than the next: too few spots, or structure "
               "factors that do not tell")
    yield (still.alike < 4, still.alike < 2, f"the light of its spots is like the intensities of the model by {still.alike:.1f} sigmas only: "
           "another crystal, other axes, or too few spots")
    if result := still.explained:
        # Chi-square grows with the light, so that bright spots show errors that hardly matter;
        # these are told by a part of the light, too.
        chi2, part = result.chi2_profiles, result.profile_error
        yield (chi2 > 3 and part > 0.2, chi2 > 10 and part > 0.5,
               f"spots differ from their profiles by {100 * part:.0f} % of their light (chi-square {chi2:.3g}): they have other shapes or places")
        chi2, part = result.chi2_unseen, result.unseen_light
        yield (chi2 > 2 and part > 0.1, chi2 > 5 and part > 0.3,
               f"reflections without spots should have {100 * part:.0f} % of the light (chi-square {chi2:.3g}): other axes, or a wrong mosaicity")
        scatter = _scatter(result)
        sure = still.alike > _ALIKE
        yield (scatter > 1.1, scatter > 1.5 and not sure, f"intensities differ from the model's by a factor of {numpy.exp(scatter):.1f}: "
               + ("structure factors, or the parts of reflections on the sphere, are wrong" if sure else
                  "the other choice of an ambiguous indexing, or another crystal"))


def verdict(still):
    """judged() of a still."""
    return ("bad", "") if still.status == "rejected" else judged(_against(still))


def judged(against):
    """"good", "doubtful" or "bad", and what speaks against the result. against: whether each reason
    makes it doubtful, whether bad, and a sentence."""
    found = list(against)
    bad, doubtful = ([why for *against, why in found if against[which]] for which in (1, 0))
    return ("bad", bad[0]) if bad else ("doubtful", doubtful[0]) if doubtful else ("good", "")
