import type { Intake } from '../../../api/intake-queries.ts'
import { counts } from '../../../api/intake-figures.ts'
import { Card } from '../../../ui/card.tsx'
import { Key } from '../../../ui/chart/legend.tsx'
import type { ChartTone } from '../../../ui/chart/tones.ts'
import { formatCount, formatRate } from '../../../ui/format.ts'
import { Table, ColumnHead, NumberCell } from '../../../ui/table.tsx'
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

/** Outcomes with their reasons, by number of items. */
export function OutcomeTable({ totals, all }: { totals: Intake['totals']; all: number }) {
  return (
    <Card title={intakeTexts.outcomesTitle} header={<Minor>{intakeTexts.outcomesMore}</Minor>}>
      <Table className={styles.table}>
        <thead>
          <tr>
            <ColumnHead>{intakeTexts.columns.outcome}</ColumnHead>
            <ColumnHead>{intakeTexts.columns.why}</ColumnHead>
            <ColumnHead>{intakeTexts.columns.what}</ColumnHead>
            <ColumnHead numeric>{intakeTexts.columns.count}</ColumnHead>
          </tr>
        </thead>
        <tbody>
          {totals.filter(counts).map(({ outcome, reason, category, quantity }) => (
            <tr key={`${outcome} ${reason} ${category}`}>
              <th scope="row">
                <Key tone={TONES[outcome]} mark="bar" /> {intakeTexts.outcomes[outcome]}
              </th>
              <td className={styles.why} title={reason === '' ? undefined : reason}>
                {intakeTexts.reasonText(outcome, reason)}
              </td>
              <td className={styles.what}>{intakeTexts.categoryName(category)}</td>
              <NumberCell title={all === 0 ? undefined : formatRate(quantity / all)}>
                {formatCount(quantity)}
              </NumberCell>
            </tr>
          ))}
        </tbody>
      </Table>
      <ClientReports reports={totals.filter((one) => !counts(one))} />
    </Card>
  )
}

/** Client reports are no data of the app: they are beside the sums, so that the rows add up to the chart. */
function ClientReports({ reports }: { reports: Intake['totals'] }) {
  if (reports.length === 0) return null
  const parts = reports.map(
    ({ outcome, quantity }) => `${formatCount(quantity)} ${intakeTexts.outcomes[outcome].toLowerCase()}`,
  )
  return (
    <Minor as="p" className={settingsStyles.body}>
      {intakeTexts.clientReports(parts.join(', '))}
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
        <Table className={styles.table}>
          <thead>
            <tr>
              <ColumnHead>{intakeTexts.columns.why}</ColumnHead>
              <ColumnHead>{intakeTexts.columns.what}</ColumnHead>
              <ColumnHead numeric>{intakeTexts.columns.count}</ColumnHead>
            </tr>
          </thead>
          <tbody>
            {losses.map(({ kind, reason, category, quantity }) => (
              <tr key={`${kind} ${reason} ${category}`}>
                <th scope="row" className={styles.why} title={reason === '' ? undefined : reason}>
                  {intakeTexts.lossText(kind, reason)}
                </th>
                <td className={styles.what}>{intakeTexts.categoryName(category)}</td>
                <NumberCell>{formatCount(quantity)}</NumberCell>
              </tr>
            ))}
          </tbody>
        </Table>
      )}
    </Card>
  )
}

/** Items by client key; shown if there are several keys. */
export function KeyTable({ keys }: { keys: Intake['keys'] }) {
  return (
    <Card title={intakeTexts.keysTitle}>
      <Table className={styles.table}>
        <thead>
          <tr>
            <ColumnHead>{intakeTexts.columns.key}</ColumnHead>
            <ColumnHead>{intakeTexts.columns.outcome}</ColumnHead>
          </tr>
        </thead>
        <tbody>
          {keys.map((key) => (
            <tr key={key.key_id}>
              <th scope="row">
                {key.public_key === null ? (
                  <Minor>{intakeTexts.keyGone}</Minor>
                ) : (
                  <span className={typeStyles.mono}>{`${key.public_key.slice(0, 8)}…`}</span>
                )}
              </th>
              <td className={styles.why}>
                {key.outcomes
                  .map(
                    ({ outcome, quantity }) =>
                      `${formatCount(quantity)} ${intakeTexts.outcomes[outcome].toLowerCase()}`,
                  )
                  .join(', ')}
              </td>
            </tr>
          ))}
        </tbody>
      </Table>
    </Card>
  )
}
