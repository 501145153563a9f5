import colours from './tones.module.css'

export type ChartTone =
  | 'base'
  | 'quiet'
  | 'crit'
  | 'high'
  | 'regr'
  | 'newest'
  | 'compared'
  | 'measure'
  | 'p50'
  | 'p75'
  | 'p95'
  | 'bad'
  | 'warn'
  | 'others'
  | 'layer-1'
  | 'layer-2'
  | 'layer-3'
  | 'layer-4'

const TONES: Readonly<Record<ChartTone, string | undefined>> = {
  base: colours.base,
  quiet: colours.quiet,
  crit: colours.crit,
  high: colours.high,
  regr: colours.newest,
  newest: colours.newest,
  compared: colours.compared,
  measure: colours.compared,
  p50: colours.lower,
  p75: colours.compared,
  p95: colours.upper,
  bad: colours.crit,
  warn: colours.warn,
  others: colours.others,
  'layer-1': colours.layer1,
  'layer-2': colours.quiet,
  'layer-3': colours.layer3,
  'layer-4': colours.layer4,
}

/** Sets the colour of a mark as the custom property `--tone`. */
export const toneClass = (tone: ChartTone): string | undefined => TONES[tone]
