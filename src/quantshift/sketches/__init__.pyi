from .counting.making import sketch as sketch
from .counting.sql import sketch_sql as sketch_sql
from .estimating.job import quantify_sketch as quantify_sketch
from .sketch_table import Sketch as Sketch, load_sketch as load_sketch
