import { AppError } from '../errors.ts';
import type { Blob, BlobLocator } from './blob.ts';

/** The execution that blobs belong to; they are deleted with it. */
export interface BlobOwner {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  /** Default: WorkflowExecution. */
  readonly kind?: 'WorkflowExecution' | 'FleetRun';
}

/** Where outputs live that are too large for status (design §5). Blobs are immutable and named by their content. */
export interface OutputStore {
  /**
   * Stores blobs; those that are there already are left alone. Returns the bytes they take in the store.
   * `usedBytes` is what the execution has stored before.
   * @throws OutputBudgetExceeded where there is no room; nothing that was stored before is touched.
   * @throws OutputNameTaken where an object of another has the name of one.
   */
  put(owner: BlobOwner, blobs: readonly Blob[], usedBytes: number): Promise<number>;
  /**
   * Reads a blob and checks its hash. Reads no more than the size that the locator names.
   * @throws AppError `not_found` where it is gone, or its bytes are not what size and hash say.
   */
  get(namespace: string, locator: BlobLocator): Promise<Uint8Array>;
  /**
   * Keeps blobs of another execution of the namespace for `owner` as well, also when that one is deleted. `blobs` are
   * located as the other one reads them; from then on `owner` reads them, stored by whichever execution stored them
   * first. No byte of them passes through this process. Gives back what is not there.
   */
  adopt(owner: BlobOwner, blobs: readonly BlobLocator[]): Promise<readonly BlobLocator[]>;
  /** Present where Kubernetes cannot collect the blobs itself: deletes everything an execution has stored. */
  deleteAll?(owner: BlobOwner): Promise<void>;
}

/** The execution may not store that much: in all (design §5: 32 MiB with the ConfigMap store), or in one value. */
export class OutputBudgetExceeded extends AppError {
  override readonly name = 'OutputBudgetExceeded';

  constructor(message: string) {
    super('limit_exceeded', message, { reason: 'OutputBudgetExceeded' });
  }
}

/** Another object is where an output belongs, and only its deletion makes room. */
export class OutputNameTaken extends AppError {
  override readonly name = 'OutputNameTaken';

  constructor(namespace: string, names: readonly string[], cause: unknown) {
    const taken = names.map((name) => `ConfigMap ${namespace}/${name}`).join(', ');
    const message = `the output is not stored: ${taken} is there already and holds something else; delete it`;
    super('conflict', message, { reason: 'OutputNameTaken', cause });
  }
}
