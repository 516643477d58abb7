interface FailureOptions {
  /** The gateway lacked room or time for a response that has come: its request is not sent again. Default: false. */
  readonly isOfGateway?: boolean;
}

/** A response that makes its step fail (requirements AMB-126); the message quotes nothing of it. */
export class StepFailure extends Error {
  override readonly name = 'StepFailure';
  readonly isOfGateway: boolean;

  constructor(message: string, { isOfGateway = false }: FailureOptions = {}) {
    super(message);
    this.isOfGateway = isOfGateway;
  }
}
