import { figuresTexts } from '../../../subjects/figures/texts.ts'
import { Judged } from '../../../subjects/figures/judged.tsx'
import type { Limits } from '../../../subjects/figures/limits.ts'
import type { Column } from '../../../ui/data-table.tsx'
import { formatDuration, formatRate } from '../../../ui/format.ts'
import { NoData } from '../../../ui/text.tsx'

/** The names of the parts that a figure is divided by, such as releases. */
export const partColumn = <Row extends { name: string }>(head: string): Column<Row> => ({
  head,
  title: ({ name }) => name,
  cell: ({ name }) => (name === '' ? figuresTexts.unknown : name),
})

export const Duration = ({ ms }: { ms: number | null }) => (ms === null ? <NoData /> : formatDuration(ms))

/** A share of frames, in the colour of its word. */
export const Ratio = ({ of, limits }: { of: number | null; limits: Limits }) =>
  of === null ? (
    <NoData />
  ) : (
    <Judged rate={of} limits={limits}>
      {formatRate(of)}
    </Judged>
  )
