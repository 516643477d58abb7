import type { Follower, InformerDeps, InformerSpec, OpenInformer } from './module.ts';

/** The informers of all modules: one for each specification, however many modules name it. */
export interface Informers {
  /** The informer of a specification that was opened. */
  readonly of: OpenInformer;
  readonly all: readonly Follower[];
  /** Undefined once all caches are filled, else which are not. */
  problem(): string | undefined;
}

/** `deps` gives each kind its own observer. */
export function openInformers(specs: readonly InformerSpec[], deps: (kind: string) => InformerDeps): Informers {
  const opened = new Map([...new Set(specs)].map((spec) => [spec, spec.open(deps(spec.kind))]));
  return {
    of: <F extends Follower>(spec: InformerSpec<F>) => {
      const informer = opened.get(spec);
      if (informer === undefined) throw new Error(`the informer ${spec.name} was not opened`);
      return informer as F;
    },
    all: [...opened.values()],
    problem() {
      const names = [...opened].filter(([, informer]) => !informer.hasSynced).map(([{ name }]) => name);
      return names.length === 0 ? undefined : `caches not synced: ${names.join(', ')}`;
    },
  };
}
