import { readdirSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';

const project = resolve(import.meta.dirname, '../..');

describe('the oldest Kubernetes that the chart accepts', () => {
  it('is one that a cluster can be made of, and that the readme names', () => {
    const { kubeVersion } = parse(readFileSync(resolve(project, 'charts/windlass/Chart.yaml'), 'utf8'));
    const [, oldest] = /^>=(\d+\.\d+)\.0-0$/.exec(kubeVersion) ?? [];
    const modules = readdirSync(resolve(project, 'dev/setup/go')).filter((name) => name.startsWith('kubernetes-'));
    expect(modules).toEqual([`kubernetes-${oldest}`]);
    const module = readFileSync(resolve(project, 'dev/setup/go', `kubernetes-${oldest}`, 'go.mod'), 'utf8');
    expect(module).toContain(`k8s.io/kubernetes v${oldest}.`);
    expect(readFileSync(resolve(project, 'README.md'), 'utf8')).toContain(`Kubernetes ${oldest} or newer`);
  });
});
