"""This Sphinx extension lets an entry of the bibliography begin with the words that cite it.

A link to a web page says on whose site it is.
"""

import string

import pybtex.plugin
from pybtex.style.formatting.alpha import Style as Alphabetic
from pybtex.style.labels import BaseLabelStyle
from pybtex.style.template import field, href


class AuthorsAndYear(BaseLabelStyle):
    """A label has the year, and the last names of one or two authors, or of the first of more."""

    def format_labels(self, sorted_entries):
        """Yield the labels, in the order of the entries.

        A letter after the year tells apart what looks alike. The entry itself gets it, and with it
        every citation in the text, which is written from the entry.
        """
        labels = [label(entry) for entry in sorted_entries]
        for i, (entry, words) in enumerate(zip(sorted_entries, labels)):
            if labels.count(words) > 1:
                entry.fields["year"] += string.ascii_lowercase[labels[:i].count(words)]
            yield label(entry)


def label(entry):
    """Write authors and year of an entry: "Cai and Scarlett, 2021", "Shao et al., 2018"."""
    return f"{authors(entry)}, {entry.fields['year']}"


def authors(entry):
    """Name one or two authors of an entry, or the first of more."""
    names = [" ".join(map(str, person.rich_last_names)) for person in entry.persons["author"]]
    return " and ".join(names) if len(names) < 3 else f"{names[0]} et al."


class Style(Alphabetic):
    """Entries are sorted by author, and written as in BibTeX's alpha."""

    default_label_style = AuthorsAndYear

    def format_url(self, entry):
        """Link to a web page by the name of its site."""
        site = field("url", raw=True, apply_func=lambda url: url.split("/")[2])
        return href[field("url", raw=True), site]


def setup(app):
    """Make the style known to sphinxcontrib-bibtex as `ldpbo`."""
    pybtex.plugin.register_plugin("pybtex.style.formatting", "ldpbo", Style)
    return {"parallel_read_safe": True}
