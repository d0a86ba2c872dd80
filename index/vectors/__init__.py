"""(n, d) unit vectors searched by cosine: `VectorIndex` is the protocol that FAISS and Milvus implement.

neighbourhoods.py corrects cosines for hubs (CSLS); tuning.py chooses how thoroughly FAISS searches.
"""
