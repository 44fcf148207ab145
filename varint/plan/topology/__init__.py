"""The graph of a mechanism: spanning tree, elimination order, cut joints and loop clusters."""

from varint.plan.topology.components import find_components
from varint.plan.topology.order import Topology, find_topology

__all__ = ["Topology", "find_components", "find_topology"]
