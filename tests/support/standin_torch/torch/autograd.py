"""Kinds of devices, by which the events of a profile are told apart."""


class DeviceType:
    CPU, CUDA = 0, 1
