import type { ComponentType } from 'react'
import { late, useLater } from '../late.ts'

/** Charts whose code is loaded after the page; their space is reserved. */

export const BarChart = lateChart(() => import('./bar-chart.tsx').then((module) => module.BarChart))
export const LineChart = lateChart(() => import('./line-chart.tsx').then((module) => module.LineChart))
export const StackChart = lateChart(() => import('./stack-chart.tsx').then((module) => module.StackChart))
export const Histogram = lateChart(() => import('./histogram.tsx').then((module) => module.Histogram))

/** Height of the time labels. */
const LABELS_PX = 20

function lateChart<Props extends { heightPx: number }>(load: () => Promise<ComponentType<Props>>) {
  const code = late(load)
  return function LateChart(props: Props) {
    return useLater(code, props) ?? <div style={{ blockSize: props.heightPx + LABELS_PX }} aria-busy="true" />
  }
}
