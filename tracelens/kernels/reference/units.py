"""Quantities: a number and a unit, compared exactly in the unit that a rule names.

The table holds common units of length, area, volume, mass, time, speed, temperature, data, energy, power, pressure,
frequency and angle, by their exact definitions (an inch is 25.4 mm, a pound 0.45359237 kg). Gallons and their parts
are those of the United States; calories are thermochemical; months and years have no fixed length and are left out.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import NamedTuple

from tracelens.errors import did_you_mean
from tracelens.kernels.reference.decimal_form import decimal_form, fraction, is_number, number_text
from tracelens.kernels.reference.strings import compose, default_string, trim
from tracelens.kernels.reference.values import Value, number_form

_TEXT = re.compile(r"(-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)\s*(\S.*)\Z", re.DOTALL)

_LONGEST = 2000


class Unit(NamedTuple):
    """A unit of measure.

    Attributes:
        name: The symbol it is shown with.
        dimension: Quantities of different dimensions are never equal.
        factor: Size in the base unit of its dimension.
        zero: Value in the base unit where this unit says 0; 0 except for temperatures.
    """

    name: str
    dimension: str
    factor: Fraction
    zero: Fraction = Fraction(0)


# One line a unit: factor, the symbols (case counts, the first is shown), "|", the names (case does not count).
_TABLE = {
    "length": """
        1 m | metre metres meter meters
        1000 km | kilometre kilometres kilometer kilometers kms
        1/10 dm | decimetre decimetres decimeter decimeters
        1/100 cm | centimetre centimetres centimeter centimeters
        1/1000 mm | millimetre millimetres millimeter millimeters
        1/1000000 µm μm um | micrometre micrometres micrometer micrometers micron microns
        1/1000000000 nm | nanometre nanometres nanometer nanometers
        0.0254 in | inch inches
        0.3048 ft | foot feet
        0.9144 yd | yard yards
        1609.344 mi | mile miles
        1852 nmi | nautical_mile nautical_miles""",
    "area": """
        1 m² m2 m^2 sqm | square_metre square_metres square_meter square_meters
        1000000 km² km2 km^2 | square_kilometre square_kilometres square_kilometer square_kilometers
        1/10000 cm² cm2 cm^2 | square_centimetre square_centimetres square_centimeter square_centimeters
        10000 ha | hectare hectares
        4046.8564224 ac | acre acres
        0.09290304 ft² ft2 ft^2 sqft | square_foot square_feet
        2589988.110336 mi² mi2 mi^2 | square_mile square_miles""",
    "volume": """
        1 m³ m3 m^3 | cubic_metre cubic_metres cubic_meter cubic_meters
        1/1000 l L | litre litres liter liters
        1/10000 dl dL | decilitre decilitres deciliter deciliters
        1/100000 cl cL | centilitre centilitres centiliter centiliters
        1/1000000 ml mL cm³ cm3 cm^3 cc | millilitre millilitres milliliter milliliters
        0.003785411784 gal | gallon gallons
        0.000946352946 qt | quart quarts
        0.000473176473 pt | pint pints
        0.0002365882365 cup | cups
        0.0000295735295625 fl_oz floz | fluid_ounce fluid_ounces
        0.00001478676478125 tbsp | tablespoon tablespoons
        0.00000492892159375 tsp | teaspoon teaspoons""",
    "mass": """
        1 kg | kilogram kilograms kilogramme kilogrammes kgs kilo kilos
        1/1000 g | gram grams gramme grammes
        1/1000000 mg | milligram milligrams
        1/1000000000 µg μg ug mcg | microgram micrograms
        1000 t | tonne tonnes metric_ton metric_tons
        0.45359237 lb lbs | pound pounds
        0.028349523125 oz | ounce ounces
        6.35029318 st | stone stones""",
    "time": """
        1 s | sec secs second seconds
        1/1000 ms | msec msecs millisecond milliseconds
        1/1000000 µs μs us | microsecond microseconds
        1/1000000000 ns | nanosecond nanoseconds
        60 min | mins minute minutes
        3600 h | hr hrs hour hours
        86400 d | day days
        604800 wk | week weeks""",
    "speed": """
        1 m/s | metres_per_second meters_per_second mps
        5/18 km/h | kmh kph kilometres_per_hour kilometers_per_hour
        0.44704 mph | mi/h miles_per_hour
        463/900 kn kt | knot knots kts
        0.3048 ft/s | feet_per_second fps""",
    "data": """
        1 B | byte bytes
        1/8 bit | bits
        1000 kB KB | kilobyte kilobytes
        1000000 MB | megabyte megabytes
        1000000000 GB | gigabyte gigabytes
        1000000000000 TB | terabyte terabytes
        1000000000000000 PB | petabyte petabytes
        1024 KiB | kibibyte kibibytes
        1048576 MiB | mebibyte mebibytes
        1073741824 GiB | gibibyte gibibytes
        1099511627776 TiB | tebibyte tebibytes
        125 kbit | kilobit kilobits
        125000 Mbit | megabit megabits
        125000000 Gbit | gigabit gigabits""",
    "energy": """
        1 J | joule joules
        1000 kJ | kilojoule kilojoules
        1000000 MJ | megajoule megajoules
        3600 Wh | watt_hour watt_hours
        3600000 kWh | kilowatt_hour kilowatt_hours
        3600000000 MWh | megawatt_hour megawatt_hours
        4.184 cal | calorie calories
        4184 kcal | kilocalorie kilocalories""",
    "power": """
        1 W | watt watts
        1/1000 mW | milliwatt milliwatts
        1000 kW | kilowatt kilowatts
        1000000 MW | megawatt megawatts
        1000000000 GW | gigawatt gigawatts""",
    "pressure": """
        1 Pa | pascal pascals
        100 hPa mbar | hectopascal hectopascals millibar millibars
        1000 kPa | kilopascal kilopascals
        1000000 MPa | megapascal megapascals
        100000 bar | bars
        101325 atm | atmosphere atmospheres""",
    "frequency": """
        1 Hz | hertz
        1000 kHz | kilohertz
        1000000 MHz | megahertz
        1000000000 GHz | gigahertz""",
    "angle": """
        1 ° deg | degree degrees
        1/60 arcmin | arcminute arcminutes
        1/3600 arcsec | arcsecond arcseconds""",
    "share": """
        1/100 % | percent percentage pct
        1/1000 ‰ | permille
        1/10000 bp bps | basis_point basis_points""",
}
_TEMPERATURES = (
    (Unit("K", "temperature", Fraction(1)), "K", "kelvin kelvins"),
    (Unit("°C", "temperature", Fraction(1), Fraction("273.15")), "°C C degC", "celsius degree_celsius degrees_celsius"),
    (
        Unit("°F", "temperature", Fraction(5, 9), Fraction("459.67") * Fraction(5, 9)),
        "°F F degF",
        "fahrenheit degree_fahrenheit degrees_fahrenheit",
    ),
)
# Symbols that mean the same in any case; the others would turn mW into MW, or Mb (bits) into MB (bytes).
_ANY_CASE = (
    "km cm dm mm nm ft yd mi ha ac cup tbsp tsp gal qt kg lb lbs oz ms ns min h d wk km/h mph kn kcal kWh bar atm"
)


def _spaced(names: str) -> list[str]:
    return [name.replace("_", " ") for name in names.split()]


def _build() -> tuple[dict[str, Unit], dict[str, Unit]]:
    exact: dict[str, Unit] = {}
    loose: dict[str, Unit] = {}
    rows = list(_TEMPERATURES)
    for dimension, lines in _TABLE.items():
        for line in lines.strip().splitlines():
            symbols, _, names = line.partition("|")
            factor, shown, *more = symbols.split()
            rows.append((Unit(shown.replace("_", " "), dimension, Fraction(factor)), " ".join([shown, *more]), names))
    for unit, symbols, names in rows:
        exact |= dict.fromkeys(map(compose, _spaced(symbols)), unit)
        loose |= dict.fromkeys(map(default_string, _spaced(names)), unit)
    loose |= {default_string(symbol): exact[symbol] for symbol in _ANY_CASE.split()}
    return exact, loose


_EXACT, _LOOSE = _build()


def find_unit(name: str) -> Unit | None:
    """The unit of a symbol or name, None where it is not in the table.

    Args:
        name: ``km``, ``KM``, ``Kilometers``; case counts only where it tells units apart (``mW``, ``MW``).

    Returns:
        The unit.

    Example:
        >>> find_unit("Kilometers").name, find_unit("MW").name, find_unit("parsec")
        ('km', 'MW', None)
    """
    name = " ".join(trim(compose(name)).split())
    return _EXACT.get(name) or _LOOSE.get(default_string(name))


def load_unit(name: str) -> Unit:
    """The unit that a rule names.

    Raises:
        ValueError: It is not in the table; the message has the nearest names.
    """
    unit = find_unit(name)
    if unit is None:
        hint = did_you_mean(name, [*_EXACT, *_LOOSE])
        raise ValueError(f"unknown unit {name!r}" + (f", {hint}" if hint else ""))
    return unit


def quantity_text(text: str, unit: Unit) -> str | None:
    """A quantity written as text, in a unit.

    Args:
        text: A number and a unit: ``5 km``, ``5km``, ``3.1 miles``.
        unit: The unit to give it in.

    Returns:
        ``5 km``, the number exact (as a fraction where its decimals do not end); None where the text is no number
        with a unit of the same dimension.

    Example:
        >>> quantity_text("5000 m", find_unit("km")), quantity_text("1 kg", find_unit("km"))
        ('5 km', None)
        >>> quantity_text("5 km/h", find_unit("m/s"))
        '25/18 m/s'
    """
    found = _TEXT.match(trim(compose(text)))
    converted = _convert(decimal_form(found[1]), found[2], unit) if found else None
    return _fraction_text(text, unit) if converted is None else converted


def _fraction_text(text: str, unit: Unit) -> str | None:
    """What `quantity_text` gives for endless decimals, read again."""
    number, _, name = trim(text).partition(" ")
    if len(number) > _LONGEST or re.fullmatch(r"-?[1-9][0-9]*/[1-9][0-9]*", number) is None:
        return None
    source = find_unit(name)
    return _render(Fraction(number), source, unit) if source else None


def quantity_pair(value: Value, unit: Unit) -> str | None:
    """A quantity given as a pair: ``{"value": 5, "unit": "km"}`` or ``[5, "km"]``.

    Args:
        value: Any JSON value.
        unit: The unit to give it in.

    Returns:
        As `quantity_text`; None where the value is no such pair.

    Example:
        >>> quantity_pair({"value": "0.5", "unit": "m"}, find_unit("cm")), quantity_pair({"value": 1}, find_unit("m"))
        ('50 cm', None)
    """
    if isinstance(value, Mapping) and set(value) == {"value", "unit"}:
        number, name = value["value"], value["unit"]
    elif isinstance(value, Sequence) and not isinstance(value, str) and len(value) == 2:
        number, name = value
    else:
        return None
    if isinstance(number, str) and is_number(trim(number)):
        form = decimal_form(trim(number))
    else:
        form = number_form(number) or ""
    return _convert(form, name, unit) if form and isinstance(name, str) else None


def _convert(form: str, name: str, unit: Unit) -> str | None:
    source, size = find_unit(name), fraction(form)
    if source is None or size is None:
        return None
    return _render(size, source, unit)


def _render(size: Fraction, source: Unit, unit: Unit) -> str | None:
    if source.dimension != unit.dimension:
        return None
    there = (size * source.factor + source.zero - unit.zero) / unit.factor
    number = _number(there)
    # What could not be read again would change when normalised twice; numbers that long are no measurements.
    if number is None or len(number) > _LONGEST:
        return None
    return f"{number} {unit.name}"


def _number(size: Fraction) -> str | None:
    places, rest = 0, size.denominator
    for prime in (2, 5):
        power = 0
        while rest % prime == 0:
            rest //= prime
            power += 1
        places = max(places, power)
    if rest != 1:
        return str(size)
    form = decimal_form(f"{size.numerator * 10**places // size.denominator}e{-places}")
    return None if fraction(form) is None else number_text(form)
