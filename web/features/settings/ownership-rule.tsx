import type { Member } from '../../api/people-queries.ts'
import type { ProjectSettings } from '../../api/queries.ts'
import { IconButton } from '../../ui/button.tsx'
import { Field, SelectField } from '../../ui/field.tsx'
import { ownershipTexts } from './ownership-texts.ts'
import { callName } from '../../common/members/names.ts'
import styles from './ownership-rule.module.css'

const words = ownershipTexts.ownership

type Rule = ProjectSettings['ownership_rules'][number]

const MATCHES = ['path', 'module', 'url', 'tag'] as const
type Match = (typeof MATCHES)[number]

/** A rule while it is edited; `key` is its place in the list of React. */
export type DraftRule = {
  readonly key: string
  readonly match: Match
  readonly tag: string
  readonly glob: string
  /** A member's id, `team`, or empty while nobody is chosen. */
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

export function draftOf(rule: Rule, index: number): DraftRule {
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

export const ruleOf = ({ match, tag, glob, to, team }: DraftRule): Rule => ({
  match: match === 'tag' ? `tag.${tag.trim()}` : match,
  glob: glob.trim(),
  user_id: to === 'team' ? null : to,
  team: to === 'team' ? team.trim() : null,
})

/** What the server would refuse for being empty; null when nothing is. */
export function problemOf({ match, tag, glob, to, team }: DraftRule): RuleProblem | null {
  const problem: RuleProblem = {
    ...(match === 'tag' && tag.trim() === '' ? { tag: words.tagMissing } : {}),
    ...(glob.trim() === '' ? { glob: words.globMissing } : {}),
    ...(to === '' ? { to: words.ownerMissing } : {}),
    ...(to === 'team' && team.trim() === '' ? { team: words.ownerMissing } : {}),
  }
  return Object.keys(problem).length === 0 ? null : problem
}

type OwnershipRuleRowProps = {
  number: number
  last: boolean
  rule: DraftRule
  members: readonly Member[]
  /** False while they are read: who is missing may be there all the same. */
  membersKnown: boolean
  problem: RuleProblem | null
  why: string | undefined
  onChange: (rule: DraftRule) => void
  onMove: (by: -1 | 1) => void
  onRemove: () => void
}

/** One rule in one line: what it looks at, what that is like, and who gets it. */
export function OwnershipRuleRow(props: OwnershipRuleRowProps) {
  const { number, last, rule, members, membersKnown, problem, why, onChange, onMove, onRemove } = props
  const readOnly = why !== undefined
  const isGone = rule.to !== '' && rule.to !== 'team' && members.every(({ id }) => id !== rule.to)
  return (
    <fieldset className={styles.rule} aria-label={words.ruleOf(number)}>
      <span className={`${styles.number} num`} aria-hidden="true">
        {number}
      </span>
      <SelectField
        label={words.match}
        value={rule.match}
        disabled={readOnly}
        onChange={(event) =>
          onChange({ ...rule, match: MATCHES.find((one) => one === event.target.value) ?? rule.match })
        }
      >
        {MATCHES.map((one) => (
          <option key={one} value={one}>
            {words.matches[one]}
          </option>
        ))}
      </SelectField>
      <div className={styles.where}>
        {rule.match === 'tag' ? (
          <Field
            label={words.tagKey}
            className="mono"
            value={rule.tag}
            error={problem?.tag}
            autoComplete="off"
            spellCheck={false}
            readOnly={readOnly}
            onChange={(event) => onChange({ ...rule, tag: event.target.value })}
          />
        ) : null}
        <Field
          label={words.glob}
          className="mono"
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
        <OwnerSelect {...{ rule, members, isGone: isGone && membersKnown, problem, readOnly, onChange }} />
        {rule.to === 'team' ? (
          <Field
            label={words.teamField}
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
          label={words.up(number)}
          why={why ?? (number === 1 ? words.first : undefined)}
          onClick={() => onMove(-1)}
        />
        <IconButton
          icon="down"
          look="ghost"
          label={words.down(number)}
          why={why ?? (last ? words.last : undefined)}
          onClick={() => onMove(1)}
        />
        <IconButton icon="trash" look="ghost" label={words.remove(number)} why={why} onClick={onRemove} />
      </span>
    </fieldset>
  )
}

type OwnerSelectProps = Pick<OwnershipRuleRowProps, 'rule' | 'members' | 'problem' | 'onChange'> & {
  isGone: boolean
  readOnly: boolean
}

function OwnerSelect({ rule, members, isGone, problem, readOnly, onChange }: OwnerSelectProps) {
  return (
    <SelectField
      label={words.to}
      value={rule.to}
      error={problem?.to}
      disabled={readOnly}
      onChange={(event) => onChange({ ...rule, to: event.target.value })}
    >
      {rule.to === '' ? <option value="">{words.choose}</option> : null}
      {isGone ? <option value={rule.to}>{words.left}</option> : null}
      <optgroup label={ownershipTexts.members}>
        {members.map((member) => (
          <option key={member.id} value={member.id}>
            {callName(member)}
          </option>
        ))}
      </optgroup>
      <option value="team">{words.teamWord}</option>
    </SelectField>
  )
}
