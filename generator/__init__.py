"""Generation: strategies that make tests from a corpus, and batches of them on disk."""

from generator.batches import BatchReport, OutputFolderError, write_batch
from generator.enumeration import EnumerationBound, EnumerationStrategy
from generator.errors import GenerationError
from generator.library import Library
from generator.loading import load_library
from generator.registry import STRATEGIES, StrategySettings, make_strategy
from generator.skeletons import SkeletonOptions, SkeletonStrategy
from generator.strategy import GeneratedTest, Strategy

__all__ = [
    "STRATEGIES",
    "BatchReport",
    "EnumerationBound",
    "EnumerationStrategy",
    "GeneratedTest",
    "GenerationError",
    "Library",
    "OutputFolderError",
    "SkeletonOptions",
    "SkeletonStrategy",
    "Strategy",
    "StrategySettings",
    "load_library",
    "make_strategy",
    "write_batch",
]
