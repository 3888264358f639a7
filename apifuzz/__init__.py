"""API fuzzing: valid call sequences to the solvers' own interfaces."""

from apifuzz.driving import generate, replay
from apifuzz.engine import Engine
from apifuzz.interface import Misbehaviour, Rejected, Unsupported
from apifuzz.run import Ending, Run, Settings
from apifuzz.trace import Line, Trace, TraceError, print_trace, read_trace
