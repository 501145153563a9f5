import type { Member } from '../../../api/member-queries.ts'
import type { ProjectSettings } from '../../../api/queries.ts'
import { IconButton } from '../../../ui/button.tsx'
import { Field, SelectField } from '../../../ui/field.tsx'
import { ownershipTexts } from './ownership-texts.ts'
import { displayName } from '../../../subjects/members/names.ts'
import { classNames } from '../../../ui/class-names.ts'
import narrowStyles from '../../../ui/narrow.module.css'
import styles from './ownership-rule.module.css'
import typeStyles from '../../../ui/type.module.css'

type Rule = ProjectSettings['ownership_rules'][number]

const MATCHES = ['path', 'module', 'url', 'tag'] as const
type Match = (typeof MATCHES)[number]

/** A rule that is being edited; `key` is its React key. */
export type DraftRule = {
  readonly key: string
  readonly match: Match
  readonly tag: string
  readonly glob: string
  /** A member's id, `team`, or empty before a choice. */
  readonly to: string
  readonly team: string
}

export type RuleProblem = { tag?: string; glob?: string; to?: string; team?: string }

let blanks = 0

export const blankRule = (): DraftRule => ({
  key: `new ${++blanks}`,
  match: 'path',
  tag: '',
  glob: '',
  to: '',
  team: '',
})

export function toOwnershipDraft(rule: Rule, index: number): DraftRule {
  const isTag = rule.match.startsWith('tag.')
  return {
    key: `saved ${index} ${rule.match} ${rule.glob}`,
    match: isTag ? 'tag' : (MATCHES.find((one) => one === rule.match) ?? 'path'),
    tag: isTag ? rule.match.slice('tag.'.length) : '',
    glob: rule.glob,
    to: rule.user_id ?? 'team',
    team: rule.team ?? '',
  }
}

export const toOwnershipRule = ({ match, tag, glob, to, team }: DraftRule): Rule => ({
  match: match === 'tag' ? `tag.${tag.trim()}` : match,
  glob: glob.trim(),
  user_id: to === 'team' ? null : to,
  team: to === 'team' ? team.trim() : null,
})

/** The fields that are empty and must not be; null if there are none. */
export function ownershipProblem({ match, tag, glob, to, team }: DraftRule): RuleProblem | null {
  const problem: RuleProblem = {
    ...(match === 'tag' && tag.trim() === '' ? { tag: ownershipTexts.tagMissing } : {}),
    ...(glob.trim() === '' ? { glob: ownershipTexts.globMissing } : {}),
    ...(to === '' ? { to: ownershipTexts.assigneeMissing } : {}),
    ...(to === 'team' && team.trim() === '' ? { team: ownershipTexts.assigneeMissing } : {}),
  }
  return Object.keys(problem).length === 0 ? null : problem
}

type OwnershipRuleRowProps = {
  number: number
  last: boolean
  rule: DraftRule
  members: readonly Member[]
  /** False while the members load: a missing member may still exist. */
  membersKnown: boolean
  problem: RuleProblem | null
  why: string | undefined
  onChange: (rule: DraftRule) => void
  onMove: (by: -1 | 1) => void
  onRemove: () => void
}

/** One rule in one line: field, pattern and assignee. */
export function OwnershipRuleRow(props: OwnershipRuleRowProps) {
  const { number, last, rule, members, membersKnown, problem, why, onChange, onMove, onRemove } = props
  const readOnly = why !== undefined
  const isGone = rule.to !== '' && rule.to !== 'team' && members.every(({ id }) => id !== rule.to)
  return (
    <fieldset
      className={classNames(styles.rule, narrowStyles.oneColumnAt600)}
      aria-label={ownershipTexts.ruleOf(number)}
    >
      <span className={classNames(styles.number, narrowStyles.hiddenAt600, typeStyles.figures)} aria-hidden="true">
        {number}
      </span>
      <SelectField
        label={ownershipTexts.match}
        value={rule.match}
        disabled={readOnly}
        onChange={(event) =>
          onChange({ ...rule, match: MATCHES.find((one) => one === event.target.value) ?? rule.match })
        }
      >
        {MATCHES.map((one) => (
          <option key={one} value={one}>
            {ownershipTexts.matches[one]}
          </option>
        ))}
      </SelectField>
      <div className={styles.where}>
        {rule.match === 'tag' ? (
          <Field
            label={ownershipTexts.tagKey}
            className={typeStyles.mono}
            value={rule.tag}
            error={problem?.tag}
            autoComplete="off"
            spellCheck={false}
            readOnly={readOnly}
            onChange={(event) => onChange({ ...rule, tag: event.target.value })}
          />
        ) : null}
        <Field
          label={ownershipTexts.glob}
          className={typeStyles.mono}
          value={rule.glob}
          error={problem?.glob}
          placeholder={number === 1 ? 'src/checkout/*' : undefined}
          autoComplete="off"
          spellCheck={false}
          readOnly={readOnly}
          onChange={(event) => onChange({ ...rule, glob: event.target.value })}
        />
      </div>
      <div className={styles.where}>
        <AssigneeSelect {...{ rule, members, isGone: isGone && membersKnown, problem, readOnly, onChange }} />
        {rule.to === 'team' ? (
          <Field
            label={ownershipTexts.teamField}
            value={rule.team}
            error={problem?.team}
            autoComplete="off"
            readOnly={readOnly}
            onChange={(event) => onChange({ ...rule, team: event.target.value })}
          />
        ) : null}
      </div>
      <span className={styles.actions}>
        <IconButton
          icon="up"
          look="ghost"
          label={ownershipTexts.up(number)}
          why={why ?? (number === 1 ? ownershipTexts.first : undefined)}
          onClick={() => onMove(-1)}
        />
        <IconButton
          icon="down"
          look="ghost"
          label={ownershipTexts.down(number)}
          why={why ?? (last ? ownershipTexts.last : undefined)}
          onClick={() => onMove(1)}
        />
        <IconButton icon="trash" look="ghost" label={ownershipTexts.remove(number)} why={why} onClick={onRemove} />
      </span>
    </fieldset>
  )
}

type AssigneeSelectProps = Pick<OwnershipRuleRowProps, 'rule' | 'members' | 'problem' | 'onChange'> & {
  isGone: boolean
  readOnly: boolean
}

function AssigneeSelect({ rule, members, isGone, problem, readOnly, onChange }: AssigneeSelectProps) {
  return (
    <SelectField
      label={ownershipTexts.to}
      value={rule.to}
      error={problem?.to}
      disabled={readOnly}
      onChange={(event) => onChange({ ...rule, to: event.target.value })}
    >
      {rule.to === '' ? <option value="">{ownershipTexts.choose}</option> : null}
      {isGone ? <option value={rule.to}>{ownershipTexts.left}</option> : null}
      <optgroup label={ownershipTexts.members}>
        {members.map((member) => (
          <option key={member.id} value={member.id}>
            {displayName(member)}
          </option>
        ))}
      </optgroup>
      <option value="team">{ownershipTexts.team}</option>
    </SelectField>
  )
}
