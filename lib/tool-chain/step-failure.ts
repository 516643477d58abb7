/** A response that makes its step fail (requirements AMB-126); the message quotes nothing of it. */
export class StepFailure extends Error {
  override readonly name = 'StepFailure';
}
