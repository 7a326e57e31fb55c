from __future__ import annotations

import pytest

from deltamem_tui.embedding.protocol import Prefixes, prefixes_for

SEARCHING = Prefixes("Represent this sentence for searching relevant passages: ")
E5 = Prefixes("query: ", "passage: ")


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("intfloat/e5-base-v2", E5),
        ("intfloat/multilingual-e5-small", E5),
        ("/somewhere/models/my_E5_finetuned", E5),
        ("/cache/models--intfloat--e5-base-v2/snapshots/1c644c92", E5),
        ("BAAI/bge-small-en-v1.5", SEARCHING),
        ("BAAI/bge-large-zh", Prefixes("为这个句子生成表示以用于检索相关文章：")),
        ("BAAI/bge-m3", Prefixes()),
        ("thenlper/gte-base", Prefixes()),
        ("mixedbread-ai/mxbai-embed-large-v1", SEARCHING),
        ("Snowflake/snowflake-arctic-embed-m", SEARCHING),
        ("Snowflake/snowflake-arctic-embed-m-v1.5", SEARCHING),
        ("Snowflake/snowflake-arctic-embed-l-v2.0", Prefixes("query: ")),
        ("nomic-ai/nomic-embed-text-v1.5", Prefixes("search_query: ", "search_document: ")),
        ("sentence-transformers/all-MiniLM-L6-v2", Prefixes()),
        ("minilm", Prefixes()),
        ("/e5/plain-model", Prefixes()),
        ("owner/cafe5-base", Prefixes()),
        ("", Prefixes()),
    ],
)
def test_the_family_is_read_from_the_models_own_name(name: str, expected: Prefixes) -> None:
    assert prefixes_for(name, {"query": "", "document": ""}) == expected


def test_instructed_e5_models_are_told_the_task_in_the_query_only() -> None:
    prefixes = prefixes_for("intfloat/multilingual-e5-large-instruct", {})

    assert prefixes.query.startswith("Instruct: ")
    assert prefixes.query.endswith("\nQuery: ")
    assert prefixes.passage == ""


@pytest.mark.parametrize("key", ["document", "passage", "corpus"])
def test_a_models_own_prompts_come_before_its_familys(key: str) -> None:
    assert prefixes_for("intfloat/e5-base-v2", {"query": "q> ", key: "p> "}) == Prefixes(
        "q> ", "p> "
    )


def test_a_model_may_declare_only_one_prompt() -> None:
    assert prefixes_for("owner/e5-like", {"query": "q> "}) == Prefixes("q> ", "")
