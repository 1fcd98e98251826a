"""Kinds of devices, which distinguish the events of a profile."""


class DeviceType:
    CPU, CUDA = 0, 1
