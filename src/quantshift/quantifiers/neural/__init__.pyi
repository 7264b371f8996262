from .set_network import SetNetwork as SetNetwork
