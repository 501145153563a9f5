import { ChartReader, round, vars } from './chart-reader.tsx'
import type { FaultLine } from './bar-chart.tsx'
import { labelPlace, stackPaths } from './stack-shapes.ts'

export type StackLayer = {
  label: string
  /** Class of its colour: `k0`… */
  tone: string
  /** Share per bucket, 0 to 1; null where there was nothing to share. */
  shares: readonly (number | null)[]
}

type StackChartProps = {
  /** A sentence that states the finding. */
  label: string
  heightPx: number
  /** The first at the bottom; together they fill the field. */
  layers: readonly StackLayer[]
  buckets: readonly string[]
  xLabels: readonly string[]
  faults: readonly FaultLine[]
  formatShare: (share: number | null) => string
}

/** Shares over time, stacked to the whole. Buckets without anything stay empty. */
export function StackChart({ label, heightPx, layers, buckets, xLabels, faults, formatShare }: StackChartProps) {
  const length = buckets.length
  const shapes = stackPaths(layers.map((layer) => layer.shares))
  const texts = buckets.map(
    (bucket, index) =>
      `${bucket}: ${layers
        .map((layer) => `${layer.label} ${formatShare(layer.shares[index] ?? null)}`)
        .reverse()
        .join(', ')}`,
  )
  return (
    <div className="plot" style={vars({ '--h': `${heightPx}px` })}>
      <div className="y" aria-hidden="true">
        {[0, 0.5, 1].map((tick) => (
          <span key={tick} style={vars({ '--y': `${tick * 100}%` })}>
            {tick === 0 ? '0' : `${tick * 100} %`}
          </span>
        ))}
      </div>
      <div className="field">
        <svg viewBox="0 0 1000 100" preserveAspectRatio="none" role="img" aria-label={label}>
          <path className="grid" d="M0 100H1000" />
          <path className="grid" d="M0 50H1000" />
          <path className="grid" d="M0 0H1000" />
          {shapes.map((path, index) => {
            const layer = layers[index]
            return layer === undefined || path === '' ? null : (
              <path key={layer.label} className={`stk ${layer.tone}`} d={path} />
            )
          })}
        </svg>
        {layers.map((layer, index) => {
          const place = labelPlace(
            layers.map((one) => one.shares),
            index,
            layer.label.length,
          )
          return place === null ? null : (
            <span
              key={layer.label}
              className={`stl ${layer.tone}`}
              style={vars({ '--x': `${round(place.x * 100)}%`, '--y': `${round(place.y * 100)}%` })}
              aria-hidden="true"
            >
              {layer.label}
            </span>
          )
        })}
        {faults.map((fault) => (
          <span
            key={`${fault.label} ${fault.at}`}
            className={fault.at > 0.8 ? 'fault fault-r' : 'fault'}
            style={vars({ '--x': `${round(fault.at * 100)}%` })}
          >
            <span>
              <b>{fault.label}</b>
            </span>
          </span>
        ))}
        <ChartReader length={length} at={(index) => (index + 0.5) / length} words={(index) => texts[index] ?? ''}>
          {(index) => (
            <>
              <b>{buckets[index]}</b>
              {layers.toReversed().map((layer) => (
                <span key={layer.label}>
                  <i className={`k ${layer.tone}`} />
                  {layer.label}
                  <span className="num">{formatShare(layer.shares[index] ?? null)}</span>
                </span>
              ))}
            </>
          )}
        </ChartReader>
      </div>
      <div className="x" aria-hidden="true">
        {xLabels.map((text, index) => (
          // Times repeat on a day with a change of clocks.
          <span key={`${text}-${index}`}>{text}</span>
        ))}
      </div>
    </div>
  )
}
