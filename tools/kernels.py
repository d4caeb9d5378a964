"""Kernels start at once here: each is forked from a process that has imported what pages import.

A kernel of Jupyter's own spends 1.4 processor seconds on imports before a page begins. A full book
of 37 pages took 289 processor seconds with the kernels of this file and 344 with Jupyter's, 19 %
more (a quick book: 65 and 118). Nothing else depends on this file: without `kernel_manager_class`
in execute.py the pages run on kernels of Jupyter's own.
"""

import gc
import multiprocessing
import os
import sys
import threading
from pathlib import Path

from ipykernel.kernelapp import IPKernelApp
from jupyter_client.manager import AsyncKernelManager

from store import ROOT

# "__main__" is build.py: imported there once, instead of in each kernel.
IMPORTED = [
    "__main__",
    "kernels",
    "ipykernel.debugger",
    "scipy.stats",
    "seaborn",
    "ldpbo.plots",
    "ldpbo.show",
]
multiprocessing.set_forkserver_preload(IMPORTED)


class Kernel(multiprocessing.get_context("forkserver").Process):
    """A kernel is a forked process with the methods of `subprocess.Popen` that Jupyter calls."""

    stdin = stdout = stderr = None

    def __init__(self, command, environment):
        super().__init__()
        self.options = command[command.index("ipykernel_launcher") + 1 :]
        self.environment = environment

    def run(self):
        """Run in the new process: become the kernel of a page."""
        threading.Thread(target=end_with_the_build, daemon=True).start()
        gc.freeze()  # what was imported stays: no need to search it
        os.setsid()
        os.chdir(ROOT)
        os.environ.update(self.environment)
        tools = str(Path(__file__).resolve().parent)
        sys.path[:] = [p for p in sys.path if p != tools]  # a page has no use for our programs
        IPKernelApp.launch_instance([*self.options, f"--IPKernelApp.parent_handle={os.getppid()}"])

    def poll(self):
        return self.exitcode

    def wait(self):
        self.join()
        return self.exitcode

    def send_signal(self, number):
        os.kill(self.pid, number)


def end_with_the_build():
    """Wait, in a thread of the kernel, until the build has ended in any way, and end as well."""
    multiprocessing.parent_process().join()
    os._exit(1)


class ForkedKernelManager(AsyncKernelManager):
    """The manager forks a kernel where its base class would start a program."""

    async def _async_launch_kernel(self, kernel_cmd, **options):
        kernel = Kernel(kernel_cmd, options["env"])
        kernel.start()
        self.provisioner.process = kernel
        self.provisioner.pid = kernel.pid
        self.provisioner.pgid = kernel.pid  # it leads a group of its own
