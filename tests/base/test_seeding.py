from quantshift.base.seeding import generator, seed_of


def test_values_are_fixed_for_ever() -> None:
    """A change here changes every result anybody has stored."""
    assert seed_of(0) == 88358135294878376210919883296303799752
    assert seed_of(7, shift="prior", p=0.3) == 255900270735156712906190139928804741845
    assert generator(0, shift="prior", repeat=3).integers(1000) == 662


def test_axes_are_names_and_values() -> None:
    assert seed_of(0, a=1, b=2) == seed_of(0, b=2, a=1)
    assert seed_of(0, a=1, b=2) != seed_of(0, a=2, b=1)
    assert seed_of(0, a=1) != seed_of(1, a=1)
    assert seed_of(0, p=0.1 + 0.2) == seed_of(0, p=0.3)
    assert seed_of(0, repeat=1) == seed_of(0, repeat=1.0)
