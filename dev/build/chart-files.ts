const source = 'crds/generated/';
const chart = 'charts/windlass/generated/';

/**
 * The given generated files, and a copy of each that the chart installs: Helm reads nothing outside the chart's folder.
 * `crds/generated/NAME.yaml` is copied to the chart's `generated/crds`, a subfolder keeps its name.
 */
export function withChartCopies(files: ReadonlyMap<string, string>): ReadonlyMap<string, string> {
  const copies = [...files]
    .filter(([path]) => path.startsWith(source) && path.endsWith('.yaml'))
    .map(([path, text]) => [chart + path.slice(source.length).replace(/^[^/]+$/, 'crds/$&'), text] as const);
  return new Map([...files, ...copies]);
}
