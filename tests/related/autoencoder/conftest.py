import pytest


@pytest.fixture(autouse=True)
def one_thread():
    """What is compared bit for bit must not depend on the number of threads."""
    torch = pytest.importorskip("torch", reason="the networks are trained by PyTorch")
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)
