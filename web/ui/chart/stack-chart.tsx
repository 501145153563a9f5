import { classNames } from '../class-names.ts'
import { toneClass, type ChartTone } from './tones.ts'
import { ChartFrame, type Marker } from './chart-frame.tsx'
import type { PlacedLabel } from './label-places.ts'
import { layerPlace, stackPaths } from './stack-shapes.ts'
import styles from './marks.module.css'

export type StackLayer = {
  label: string
  tone: ChartTone
  /** The share per bucket, 0 to 1; null without data. */
  shares: readonly (number | null)[]
}

type StackChartProps = {
  /** A sentence with the finding. */
  label: string
  heightPx: number
  /** The first at the bottom; together they fill the plot. */
  layers: readonly StackLayer[]
  buckets: readonly string[]
  xLabels: readonly string[] | readonly PlacedLabel[]
  markers: readonly Marker[]
  formatShare: (share: number | null) => string
}

const WHOLE = { low: 0, high: 1, ticks: [0, 0.25, 0.5, 0.75, 1] }

/** Shares over time, stacked to 100 %. Buckets without data are empty. */
export function StackChart({ layers, buckets, formatShare, ...frame }: StackChartProps) {
  const length = buckets.length
  const shares = layers.map((layer) => layer.shares)
  const shapes = stackPaths(shares)
  return (
    <ChartFrame
      {...frame}
      axis={WHOLE}
      formatTick={(tick) => (tick === 0 ? '0' : `${tick * 100}\u202f%`)}
      length={length}
      at={(index) => (index + 0.5) / length}
      labels={layers.flatMap(({ label, tone }, index) => {
        const place = layerPlace(shares, index)
        return place === null ? [] : [{ ...place, text: label, tone }]
      })}
      read={([index]) => ({
        title: buckets[index] ?? '',
        values: layers.toReversed().map((layer) => ({
          label: layer.label,
          tone: layer.tone,
          mark: 'bar',
          value: formatShare(layer.shares[index] ?? null),
        })),
      })}
    >
      {() =>
        layers.map((layer, index) =>
          (shapes[index] ?? '') === '' ? null : (
            <path
              key={layer.label}
              className={classNames(styles.filled, styles.layer, toneClass(layer.tone))}
              d={shapes[index]}
            />
          ),
        )
      }
    </ChartFrame>
  )
}
