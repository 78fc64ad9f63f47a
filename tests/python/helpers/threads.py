"""Does something in several threads at once."""

import threading


def run_in_threads(work, count=4):
    """Calls work(number) in threads that start together; returns their exceptions."""
    barrier, errors = threading.Barrier(count), []

    def run(number):
        barrier.wait()
        try:
            work(number)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=run, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return errors
