"""What tests of readers share: cases whose outcome is compared with what was expected."""
import pickle


def check(check_case):
    """Prints a line for each case of expected.pickle in which check_case(name, wish) finds a fault."""
    wishes = pickle.load(open("expected.pickle", "rb"))
    wrong = {name: fault for name, wish in wishes.items() if (fault := check_case(name, wish))}
    for name, fault in wrong.items():
        print(f"FAILED: {name}: {fault}")
    print(f"{len(wishes)} cases, {len(wrong)} wrong")
    return bool(wrong)
