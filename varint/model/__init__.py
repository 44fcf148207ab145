"""Descriptions: bodies, joints, mechanisms. Plain frozen data, no compiled code."""
