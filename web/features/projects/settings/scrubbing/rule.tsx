import type { ProjectSettings } from '../../../../api/queries.ts'
import { IconButton } from '../../../../ui/button.tsx'
import { Field, SelectField } from '../../../../ui/field.tsx'
import fitStyles from '../../../../ui/fit.module.css'
import { privacyTexts } from '../privacy-texts.ts'
import styles from './rule.module.css'
import typeStyles from '../../../../ui/type.module.css'

const texts = privacyTexts.scrubbing

type Rule = ProjectSettings['scrub_rules'][number]

/** A rule that is being edited; `key` is its React key. */
export type DraftRule = Omit<Rule, 'regex'> & { readonly regex: string; readonly key: string }

let blanks = 0

export const blankScrubRule = (): DraftRule => ({
  path: '',
  pattern: 'anything',
  regex: '',
  action: 'replace',
  key: `new ${++blanks}`,
})

const PATTERNS = Object.keys(texts.patterns) as Rule['pattern'][]
const ACTIONS = Object.keys(texts.actions) as Rule['action'][]

type ScrubRuleRowProps = {
  number: number
  rule: DraftRule
  why: string | undefined
  onChange: (rule: DraftRule) => void
  onRemove: () => void
}

/** A rule in one line: path, pattern and action. */
export function ScrubRuleRow({ number, rule, why, onChange, onRemove }: ScrubRuleRowProps) {
  const readOnly = why !== undefined
  return (
    <fieldset className={styles.rule} aria-label={texts.ruleOf(number)}>
      <Field
        label={texts.path}
        className={typeStyles.mono}
        value={rule.path}
        placeholder={number === 1 ? 'user.email' : undefined}
        hint={number === 1 ? texts.pathHint : undefined}
        autoComplete="off"
        spellCheck={false}
        readOnly={readOnly}
        onChange={(event) => onChange({ ...rule, path: event.target.value.trim() })}
      />
      <SelectField
        label={texts.pattern}
        value={rule.pattern}
        disabled={readOnly}
        onChange={(event) =>
          onChange({ ...rule, pattern: PATTERNS.find((one) => one === event.target.value) ?? rule.pattern })
        }
      >
        {PATTERNS.map((one) => (
          <option key={one} value={one}>
            {texts.patterns[one]}
          </option>
        ))}
      </SelectField>
      <SelectField
        label={texts.action}
        value={rule.action}
        disabled={readOnly}
        onChange={(event) =>
          onChange({ ...rule, action: ACTIONS.find((one) => one === event.target.value) ?? rule.action })
        }
      >
        {ACTIONS.map((one) => (
          <option key={one} value={one}>
            {texts.actions[one]}
          </option>
        ))}
      </SelectField>
      <IconButton icon="trash" look="ghost" label={texts.remove(rule.path)} why={why} onClick={onRemove} />
      {rule.pattern === 'custom' ? (
        <div className={fitStyles.wholeRow}>
          <Field
            label={texts.regex}
            className={typeStyles.mono}
            value={rule.regex}
            autoComplete="off"
            spellCheck={false}
            readOnly={readOnly}
            onChange={(event) => onChange({ ...rule, regex: event.target.value })}
          />
        </div>
      ) : null}
    </fieldset>
  )
}
