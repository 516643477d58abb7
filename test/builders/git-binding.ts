import type { GitBinding, GitBindingSpec, GitBindingStatus } from '../../crds/schema/git-binding.ts';
import type { Volume, VolumeStatus } from '../../crds/schema/volume.ts';

/** A binding `site` of the namespace `tenant-acme`. */
export function aGitBinding(spec: Partial<GitBindingSpec> = {}, status?: GitBindingStatus): GitBinding {
  return {
    apiVersion: 'windlass.dev/v1',
    kind: 'GitBinding',
    metadata: { name: 'site', namespace: 'tenant-acme', uid: 'binding-uid', generation: 3, resourceVersion: '10' },
    spec: { repo_url: 'https://git.example.org/site.git', ...spec },
    ...(status === undefined ? {} : { status }),
  };
}

interface VolumeFields {
  readonly owner?: string;
  readonly claim?: string | undefined;
  readonly phase?: VolumeStatus['phase'];
}

/** The volume of that binding. */
export function aGitVolume(fields: VolumeFields = {}): Volume {
  const { owner = 'binding-uid', phase = 'ready' } = fields;
  const claim_name = 'claim' in fields ? fields.claim : 'git-site';
  return {
    apiVersion: 'windlass.dev/v1',
    kind: 'Volume',
    metadata: {
      name: 'git-site',
      namespace: 'tenant-acme',
      uid: 'volume-uid',
      resourceVersion: '1',
      ownerReferences: [{ apiVersion: 'windlass.dev/v1', kind: 'GitBinding', name: 'site', uid: owner }],
    },
    spec: { storage_class: 'persistent' },
    status: { phase, ...(claim_name === undefined ? {} : { claim_name }) },
  };
}
