"""Methods whose memory is flat: MemP, AWM, ReasoningBank and Synapse, a module each."""
