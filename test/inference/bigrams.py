"""Writes a model of the architecture llama that is a table: the last token alone decides the next one.

Token and position in the embedding are the same number, the block in between adds nothing, and the output matrix holds
the table. usage: bigrams.py FILE, with {"template": TEXT, "chains": [[WORD, ...], ...]} on the standard input; the
model ends its answer behind the last word of a chain, and "..." there lets it say the word before for ever.
"""

import json
import sys

import gguf
import numpy as np

NORMAL, UNKNOWN, CONTROL, WORD, BYTE = 1, 2, 3, 4, 6
UNK, BEGIN, END = 0, 1, 2
WINDOW = 2048
FEED_FORWARD = 32


def table_of(chains):
    tokens = [("<unk>", UNKNOWN), ("<s>", CONTROL), ("</s>", CONTROL)]
    tokens += [(f"<0x{value:02X}>", BYTE) for value in range(256)]
    numbers, following = {}, {}
    for word in (word for chain in chains for word in chain if word != "..."):
        if word not in numbers:
            numbers[word] = len(tokens)
            tokens.append((word, WORD))
    for chain in chains:
        for word, after in zip(chain, [*chain[1:], None]):
            if word != "...":
                following[numbers[word]] = END if after is None else numbers[word if after == "..." else after]
    return tokens, following


def zeros(*shape):
    return np.zeros(shape, dtype=np.float32)


def add_tensors(writer, size, width, following):
    identity, table = zeros(size, width), zeros(size, width)
    for number in range(size):
        identity[number, number] = 1
        table[following.get(number, END), number] = 1
    writer.add_tensor("token_embd.weight", identity)
    writer.add_tensor("output_norm.weight", zeros(width) + 1)
    writer.add_tensor("output.weight", table)
    for name in ("attn_norm", "ffn_norm"):
        writer.add_tensor(f"blk.0.{name}.weight", zeros(width) + 1)
    for name in ("attn_q", "attn_k", "attn_v", "attn_output"):
        writer.add_tensor(f"blk.0.{name}.weight", zeros(width, width))
    for name in ("ffn_gate", "ffn_up"):
        writer.add_tensor(f"blk.0.{name}.weight", zeros(FEED_FORWARD, width))
    writer.add_tensor("blk.0.ffn_down.weight", zeros(width, FEED_FORWARD))


def main(path, template, chains):
    tokens, following = table_of(chains)
    size = len(tokens)
    width = (size + 31) // 32 * 32
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_context_length(WINDOW)
    writer.add_embedding_length(width)
    writer.add_block_count(1)
    writer.add_feed_forward_length(FEED_FORWARD)
    writer.add_head_count(1)
    writer.add_head_count_kv(1)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_dimension_count(width)
    writer.add_vocab_size(size)
    writer.add_file_type(gguf.LlamaFileType.ALL_F32)
    writer.add_tokenizer_model("llama")
    writer.add_token_list([text for text, _ in tokens])
    writer.add_token_scores([0.0] * size)
    writer.add_token_types([kind for _, kind in tokens])
    writer.add_unk_token_id(UNK)
    writer.add_bos_token_id(BEGIN)
    writer.add_eos_token_id(END)
    writer.add_add_space_prefix(False)
    writer.add_chat_template(template)
    add_tensors(writer, size, width, following)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


main(sys.argv[1], **json.load(sys.stdin))
