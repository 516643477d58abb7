import { defineModule, type InformerSpec } from '../../../../controllers/runtime/module.ts';
import { wakeItself } from '../../../../controllers/runtime/wakes.ts';
import { writeStatus } from '../../../../controllers/runtime/write-status.ts';
import { createInformer, type Informer } from '../../../../lib/informer/index.ts';
import { type ConfigMap, configMaps, keyOf } from '../../../../lib/kube/index.ts';
import { type Greeting, greetings } from './kind.ts';

const greetingInformer: InformerSpec<Informer<Greeting, 'namespace'>> = {
  name: 'greetings',
  kind: 'Greeting',
  open: (deps) =>
    createInformer(deps, {
      resource: greetings,
      indexes: { namespace: ({ metadata: { namespace = '' } }) => [namespace] },
    }),
};

export const wordsLabel = 'test.windlass.dev/words';

const wordsInformer: InformerSpec<Informer<ConfigMap, 'namespace'>> = {
  name: 'words',
  kind: 'ConfigMap',
  open: (deps) =>
    createInformer(deps, {
      resource: configMaps,
      labelSelector: wordsLabel,
      indexes: { namespace: ({ metadata: { namespace = '' } }) => [namespace] },
    }),
};

/** Receives the acts of the module. */
interface Witness {
  /** Held until this resolves: a reconcile under way. */
  readonly held: () => Promise<void>;
  readonly led: string[];
}

export const greetingModule = ({ held, led }: Witness) =>
  defineModule({
    kind: 'Greeting',
    informers: { greetings: greetingInformer, words: wordsInformer },
    wakes: {
      greetings: wakeItself,
      words: (change, caches) =>
        caches.greetings.cache
          .byIndex('namespace', (change.after ?? change.before)?.metadata.namespace ?? '')
          .map(keyOf),
    },
    workers: () => 2,
    reconcile({ kube, informers, whileLeading }) {
      whileLeading(async (stop) => {
        led.push('began');
        await new Promise((resolve) => stop.addEventListener('abort', resolve, { once: true }));
        led.push('ended');
      });
      return async (key) => {
        const greeting = informers.greetings.cache.get(key);
        if (greeting === undefined) return;
        const [words] = informers.words.cache.byIndex('namespace', greeting.metadata.namespace ?? '');
        await held();
        const status = { text: `${words?.data?.['hello'] ?? 'hello'} ${greeting.spec.name}` };
        await writeStatus({ kube, resource: greetings, cache: informers.greetings.cache }, greeting, status);
      };
    },
  });
