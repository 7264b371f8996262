from .job import quantify_sketch as quantify_sketch
from .making import sketch as sketch
from .sketch_table import Sketch as Sketch, load_sketch as load_sketch
from .sql import sketch_sql as sketch_sql
