"""Geometry and units."""
