/** Bounds of one conversation. Lengths are in UTF-16 units. */
export const conversationLimits = {
  /** Text of one reply of a model; a longer one is cut, and the iteration is not accepted. */
  replyLength: 256 * 1024,
  /** Arguments of one tool call; longer ones are refused. */
  argumentsLength: 256 * 1024,
  /** Arguments of all calls of one reply, so that the record fits a message of the event bus. */
  replyArgumentsLength: 512 * 1024,
  /** Text of one reply as JSON in UTF-8. */
  replyBytes: 384 * 1024,
  /** Texts of one record together as JSON in UTF-8, so that it fits a message of the event bus. */
  recordBytes: 992 * 1024,
  /** Tool calls of one reply; those beyond are left out. */
  callsPerReply: 128,
  /** Answer of one tool; a longer one is cut, and says so. */
  toolContentLength: 256 * 1024,
  /** Text of all messages, counted in bytes of heap. A conversation that grows beyond it fails. */
  heldBytes: 4 * 1024 * 1024,
  /** The same as JSON in UTF-8, so that the record fits a message of the event bus. */
  toolContentBytes: 512 * 1024,
  /** Arguments of the call under way, in bytes of heap at most: 87,000 empty lists are 256 KiB of JSON and 7 MiB of values. */
  callBytes: 8 * 1024 * 1024,
  /** Arguments of signed calls under way, in bytes of heap. A call that does not fit beside others is refused until they end. */
  signedBytes: 2 * 1024 * 1024,
  /** Requests of the pod that say something, of one execution: each may make one more question to the model. */
  podSayings: 100,
  /** Texts of one of them as JSON in UTF-8, so that the record fits a message of the event bus. */
  podSayingBytes: 512 * 1024,
  /** Dispatches of one execution that are remembered, those under way among them (ADR 0160). */
  dispatchesKept: 64,
  /** Final text in UTF-8: it is part of an object, with the input, and etcd takes 1.5 MiB. */
  outputBytes: 512 * 1024,
  /** Size limit of a judge's feedback to the agent. */
  feedbackLength: 8 * 1024,
  /** Text units per token where no provider has counted: what is estimated before a model is asked. */
  unitsPerToken: 3,
} as const;
