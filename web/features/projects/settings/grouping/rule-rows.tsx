import type { ProjectSettings } from '../../../../api/queries.ts'
import { IconButton } from '../../../../ui/button.tsx'
import { classNames } from '../../../../ui/class-names.ts'
import { Field, SelectField } from '../../../../ui/field.tsx'
import narrowStyles from '../../../../ui/narrow.module.css'
import { Minor } from '../../../../ui/text.tsx'
import { groupingTexts } from './texts.ts'
import { parseElements, parseMatch, printElements, printMatch } from './rule-text.ts'
import styles from './rule-rows.module.css'
import typeStyles from '../../../../ui/type.module.css'

type Rules = ProjectSettings['grouping_rules']
type FingerprintRule = Rules['fingerprint'][number]
type StackRule = Rules['stack'][number]

/** Rules that are being edited, as text; `key` is their React key. */
export type DraftFingerprint = { key: string; match: string; fingerprint: string; title: string }
export type DraftStack = { key: string; match: string; action: StackRule['action'] }

let blanks = 0
export const blankFingerprint = (): DraftFingerprint => ({
  key: `new ${++blanks}`,
  match: '',
  fingerprint: '',
  title: '',
})
export const blankStack = (): DraftStack => ({ key: `new ${++blanks}`, match: '', action: 'not_in_app' })

export const draftFingerprint = (rule: FingerprintRule, index: number): DraftFingerprint => ({
  key: `saved ${index}`,
  match: printMatch(rule.match),
  fingerprint: printElements(rule.fingerprint),
  title: rule.title ?? '',
})
export const draftStack = (rule: StackRule, index: number): DraftStack => ({
  key: `saved ${index}`,
  match: printMatch(rule.match),
  action: rule.action,
})

/** The errors of a rule; empty if there are none. */
export function groupingRuleProblems(rule: DraftFingerprint | DraftStack): { match?: string; fingerprint?: string } {
  const read = parseMatch(rule.match)
  return {
    ...('problem' in read ? { match: read.problem } : {}),
    ...('fingerprint' in rule && parseElements(rule.fingerprint).length === 0
      ? { fingerprint: groupingTexts.problems.noFingerprint }
      : {}),
  }
}

const matchOf = (text: string) => {
  const read = parseMatch(text)
  return 'match' in read ? read.match : []
}

export const toGroupingRules = (fingerprint: readonly DraftFingerprint[], stack: readonly DraftStack[]): Rules => ({
  fingerprint: fingerprint.map((rule) => ({
    match: matchOf(rule.match),
    fingerprint: parseElements(rule.fingerprint),
    title: rule.title.trim() === '' ? null : rule.title.trim(),
  })),
  stack: stack.map((rule) => ({ match: matchOf(rule.match), action: rule.action })),
})

export type RowProps<R> = {
  number: number
  rule: R
  why: string | undefined
  /** Whether to show missing fields, after the first attempt to save. */
  asked: boolean
  /** The number of events that the rule matches in the preview. */
  hits: number | undefined
  onChange: (rule: R) => void
  onUp: (() => void) | undefined
  onRemove: () => void
}

export function FingerprintRow({
  number,
  rule,
  why,
  asked,
  hits,
  onChange,
  onUp,
  onRemove,
}: RowProps<DraftFingerprint>) {
  const problems = asked ? groupingRuleProblems(rule) : {}
  const common = { autoComplete: 'off', spellCheck: false, readOnly: why !== undefined }
  return (
    <fieldset
      className={classNames(styles.rule, narrowStyles.oneColumnAt600)}
      aria-label={groupingTexts.ruleOf(number)}
    >
      <Field
        {...common}
        label={groupingTexts.match}
        className={typeStyles.mono}
        value={rule.match}
        placeholder={number === 1 ? 'type:PaymentError module:com.acme.*' : undefined}
        error={problems.match}
        onChange={(event) => onChange({ ...rule, match: event.target.value })}
      />
      <Field
        {...common}
        label={groupingTexts.fingerprint}
        className={typeStyles.mono}
        value={rule.fingerprint}
        placeholder={number === 1 ? 'payments, {{ tag.shop }}' : undefined}
        error={problems.fingerprint}
        onChange={(event) => onChange({ ...rule, fingerprint: event.target.value })}
      />
      <Field
        {...common}
        label={groupingTexts.titleField}
        value={rule.title}
        onChange={(event) => onChange({ ...rule, title: event.target.value })}
      />
      <RowEnd
        number={number}
        why={why}
        hits={hits}
        onUp={onUp}
        remove={groupingTexts.remove(number)}
        onRemove={onRemove}
      />
    </fieldset>
  )
}

const ACTIONS = Object.keys(groupingTexts.actions) as StackRule['action'][]

export function StackRow({ number, rule, why, asked, hits, onChange, onUp, onRemove }: RowProps<DraftStack>) {
  const problems = asked ? groupingRuleProblems(rule) : {}
  return (
    <fieldset
      className={classNames(styles.rule, narrowStyles.oneColumnAt600, styles.stackRule)}
      aria-label={groupingTexts.stackRuleOf(number)}
    >
      <Field
        label={groupingTexts.match}
        className={typeStyles.mono}
        value={rule.match}
        placeholder={number === 1 ? 'module:com.acme.net.*' : undefined}
        error={problems.match}
        autoComplete="off"
        spellCheck={false}
        readOnly={why !== undefined}
        onChange={(event) => onChange({ ...rule, match: event.target.value })}
      />
      <SelectField
        label={groupingTexts.action}
        value={rule.action}
        disabled={why !== undefined}
        onChange={(event) =>
          onChange({ ...rule, action: ACTIONS.find((one) => one === event.target.value) ?? rule.action })
        }
      >
        {ACTIONS.map((one) => (
          <option key={one} value={one}>
            {groupingTexts.actions[one]}
          </option>
        ))}
      </SelectField>
      <RowEnd
        number={number}
        why={why}
        hits={hits}
        onUp={onUp}
        remove={groupingTexts.removeStack(number)}
        onRemove={onRemove}
      />
    </fieldset>
  )
}

type RowEndProps = Pick<RowProps<never>, 'number' | 'why' | 'hits' | 'onUp' | 'onRemove'> & { remove: string }

function RowEnd({ number, why, hits, onUp, remove, onRemove }: RowEndProps) {
  return (
    <div className={styles.end}>
      {hits === undefined ? null : <Minor className={typeStyles.figures}>{groupingTexts.hits(hits)}</Minor>}
      {onUp === undefined ? null : (
        <IconButton icon="up" look="ghost" label={groupingTexts.up(number)} why={why} onClick={onUp} />
      )}
      <IconButton icon="trash" look="ghost" label={remove} why={why} onClick={onRemove} />
    </div>
  )
}
