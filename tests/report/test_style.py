from quantshift.analysis.methods import ORDER
from quantshift.report.style import METHOD_STYLE, ON_DARK, method_style, method_styles


def luminance(colour):
    """Relative luminance of a colour, as in the contrast ratio of WCAG 2."""
    channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return sum(w * c for w, c in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def test_the_papers_methods_differ_in_everything():
    assert tuple(METHOD_STYLE) == ORDER
    for part in zip(*METHOD_STYLE.values(), strict=True):
        assert len(set(part)) == len(ORDER)


def test_colours_show_on_white_and_on_dark():
    for style in METHOD_STYLE.values():
        assert 1.05 / (luminance(style.colour) + 0.05) > 2
        on_dark = ON_DARK.get(style.colour, style.colour)
        assert (luminance(on_dark) + 0.05) / (luminance("#1a1a1a") + 0.05) > 2.5


def test_unknown_methods_get_styles_of_their_own():
    styles = method_styles(["CC", "Mine", "Yours"])
    assert styles["CC"] == METHOD_STYLE["CC"]
    assert len({*METHOD_STYLE.values(), styles["Mine"], styles["Yours"]}) == len(ORDER) + 2


def test_the_style_of_a_method_is_the_same_wherever_it_is_asked_for():
    names = ["Yours", "CC", "Mine"]
    for name, style in method_styles(names).items():
        assert method_style(name, names) == style
    assert method_style("SLD") == METHOD_STYLE["SLD"]
