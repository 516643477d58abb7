import { type KubeClient, secrets } from '../../../../lib/kube/index.ts';

/** The longest line of each private text in the Secrets of a namespace, under the name of its Secret and key. */
export async function secretTexts(kube: KubeClient, namespace: string): Promise<ReadonlyMap<string, string>> {
  const { items } = await kube.listAll(secrets, { namespace });
  const own = items.filter(({ type = '' }) => !type.startsWith('helm.sh/'));
  const found = own.flatMap(({ metadata, data = {} }) =>
    Object.entries(data)
      .filter(([key]) => !key.endsWith('.crt'))
      .map(([key, value]) => {
        const lines = Buffer.from(value, 'base64').toString('latin1').split('\n');
        return [`${metadata.name}/${key}`, lines.toSorted((a, b) => b.length - a.length)[0] ?? ''] as const;
      }),
  );
  return new Map(found.filter(([, text]) => text.length >= 12));
}
