"""Serves a model with llama.cpp's own server and prints its address. usage: serve.py FILE; ends with its input."""

import sys

import xllamacpp

params = xllamacpp.CommonParams()
params.model.path = sys.argv[1]
params.n_ctx = 2048
params.hostnames = ["127.0.0.1"]
params.port = 0
params.warmup = False
params.cpuparams.n_threads = 1
params.cpuparams_batch.n_threads = 1
params.api_keys = ["sk-of-the-test"]
server = xllamacpp.Server(params)
print(server.listening_address, flush=True)
sys.stdin.read()
