-- Keys name theories as formulas do: Ints, where earlier versions wrote Int.

create temp macro renamed_theory(name) as coalesce(map {
    'Array': 'ArraysEx', 'BV': 'FixedSizeBitVectors', 'Bag': 'Bags', 'Datatype': 'Datatypes', 'FF': 'FiniteFields',
    'FP': 'FloatingPoint', 'Int': 'Ints', 'Quantifier': 'Quantifiers', 'Real': 'Reals', 'Seq': 'Sequences',
    'Set': 'Sets', 'String': 'UnicodeStrings', 'Core': 'Core', 'Nonlinear': 'Nonlinear', 'UF': 'UF'
}[name], '');

-- A part of a key: names of theories, or something else. After class and solver.
create temp macro renamed_part(part, place) as case
    when place <= 2 or list_contains(list_transform(string_split(part, '+'), lambda name: renamed_theory(name)), '')
    then part
    else array_to_string(
        list_sort(list_transform(string_split(part, '+'), lambda name: renamed_theory(name))), '+'
    )
end;

update finding set key = renamed.key
from (
    select id, array_to_string(
        list_transform(string_split(key, '|'), lambda part, place: renamed_part(part, place)), '|'
    ) as key
    from finding
) as renamed
where finding.id = renamed.id and finding.key <> renamed.key;

drop macro renamed_part;
drop macro renamed_theory;
