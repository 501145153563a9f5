import { figuresTexts } from '../../../subjects/figures/texts.ts'
import { Judged } from '../../../subjects/figures/judged.tsx'
import type { Limits } from '../../../subjects/figures/limits.ts'
import type { Column } from '../../../ui/data-table.tsx'
import { formatDuration, formatRate } from '../../../ui/format.ts'
import { Minor, NoData } from '../../../ui/text.tsx'
import { MIN_VALUES } from '#shared/rate-words.ts'
import { performanceTexts } from './texts.ts'

/** The names of the parts that a figure is divided by, such as releases. */
export const partColumn = <Row extends { name: string }>(head: string): Column<Row> => ({
  head,
  title: ({ name }) => name,
  cell: ({ name }) => (name === '' ? figuresTexts.unknown : name),
})

export const Duration = ({ ms }: { ms: number | null }) => (ms === null ? <NoData /> : formatDuration(ms))

/** A percentile, if there are enough values for one; else how many there are. */
export const Enough = ({ ms, of }: { ms: number | null; of: number }) =>
  of === 0 || of >= MIN_VALUES ? <Duration ms={ms} /> : <Minor>{performanceTexts.tooFew(of)}</Minor>

/** A share of frames, in the colour of its word. */
export const Ratio = ({ of, limits }: { of: number | null; limits: Limits }) =>
  of === null ? (
    <NoData />
  ) : (
    <Judged rate={of} limits={limits}>
      {formatRate(of)}
    </Judged>
  )
