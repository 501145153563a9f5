import type { Intake } from '../../../api/intake-queries.ts'
import { counts } from '../../../api/intake-figures.ts'
import { Card } from '../../../ui/card.tsx'
import { Key } from '../../../ui/chart/legend.tsx'
import type { ChartTone } from '../../../ui/chart/tones.ts'
import { formatCount, formatRate } from '../../../ui/format.ts'
import { DataTable } from '../../../ui/data-table.tsx'
import { Minor } from '../../../ui/text.tsx'
import { intakeTexts } from './texts.ts'
import settingsStyles from '../../../frames/settings.module.css'
import styles from './tables.module.css'
import typeStyles from '../../../ui/type.module.css'

type Outcome = Intake['totals'][number]['outcome']

const TONES: Readonly<Record<Outcome, ChartTone>> = {
  accepted: 'quiet',
  filtered: 'base',
  duplicate: 'base',
  discarded: 'base',
  rate_limited: 'high',
  invalid: 'crit',
  dropped: 'crit',
}

const { columns } = intakeTexts

const countedOutcome = ({ outcome, quantity }: { outcome: Outcome; quantity: number }): string =>
  `${formatCount(quantity)} ${intakeTexts.outcomes[outcome].toLowerCase()}`

/** Outcomes with their reasons, by number of items. */
export function OutcomeTable({ totals, all }: { totals: Intake['totals']; all: number }) {
  return (
    <Card title={intakeTexts.outcomesTitle} header={<Minor>{intakeTexts.outcomesMore}</Minor>}>
      <DataTable
        cards
        className={styles.table}
        rows={totals.filter(counts)}
        keyOf={({ outcome, reason, category }) => `${outcome} ${reason} ${category}`}
        columns={[
          {
            head: columns.outcome,
            cell: ({ outcome }) => (
              <>
                <Key tone={TONES[outcome]} mark="bar" /> {intakeTexts.outcomes[outcome]}
              </>
            ),
          },
          {
            head: columns.why,
            className: styles.why,
            title: ({ reason }) => reason || null,
            cell: ({ outcome, reason }) => intakeTexts.reasonText(outcome, reason),
          },
          { head: columns.what, className: styles.what, cell: ({ category }) => intakeTexts.categoryName(category) },
          {
            head: columns.count,
            numeric: true,
            title: ({ quantity }) => (all === 0 ? null : formatRate(quantity / all)),
            cell: ({ quantity }) => formatCount(quantity),
          },
        ]}
      />
      <ClientReports reports={totals.filter((one) => !counts(one))} />
    </Card>
  )
}

/** Client reports are no data of the app: they are beside the sums, so that the rows add up to the chart. */
function ClientReports({ reports }: { reports: Intake['totals'] }) {
  if (reports.length === 0) return null
  return (
    <Minor as="p" className={settingsStyles.body}>
      {intakeTexts.clientReports(reports.map(countedOutcome).join(', '))}
    </Minor>
  )
}

/** The losses that SDKs reported. */
export function LossTable({ losses }: { losses: Intake['client_losses'] }) {
  return (
    <Card title={intakeTexts.lostTitle} header={<Minor>{intakeTexts.lostMore}</Minor>}>
      {losses.length === 0 ? (
        <Minor as="p" className={settingsStyles.body}>
          {intakeTexts.nothingLost}
        </Minor>
      ) : (
        <DataTable
          cards
          className={styles.table}
          rows={losses}
          keyOf={({ kind, reason, category }) => `${kind} ${reason} ${category}`}
          columns={[
            {
              head: columns.why,
              className: styles.why,
              title: ({ reason }) => reason || null,
              cell: ({ kind, reason }) => intakeTexts.lossText(kind, reason),
            },
            { head: columns.what, className: styles.what, cell: ({ category }) => intakeTexts.categoryName(category) },
            { head: columns.count, numeric: true, cell: ({ quantity }) => formatCount(quantity) },
          ]}
        />
      )}
    </Card>
  )
}

/** Items by client key; shown if there are several keys. */
export function KeyTable({ keys }: { keys: Intake['keys'] }) {
  return (
    <Card title={intakeTexts.keysTitle}>
      <DataTable
        cards
        className={styles.table}
        rows={keys}
        keyOf={(key) => key.key_id}
        columns={[
          {
            head: columns.key,
            cell: ({ public_key: key }) =>
              key === null ? (
                <Minor>{intakeTexts.keyGone}</Minor>
              ) : (
                <span className={typeStyles.mono}>{`${key.slice(0, 8)}…`}</span>
              ),
          },
          {
            head: columns.outcome,
            className: styles.why,
            cell: ({ outcomes }) => outcomes.map(countedOutcome).join(', '),
          },
        ]}
      />
    </Card>
  )
}
