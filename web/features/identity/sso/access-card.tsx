import type { SsoConfig } from '../../../api/sso-queries.ts'
import { SettingRow } from '../../../frames/setting-row.tsx'
import { Card } from '../../../ui/card.tsx'
import { SelectField } from '../../../ui/field.tsx'
import { Switch } from '../../../ui/switch.tsx'
import { ssoTexts } from './texts.ts'
import { useSaveSso } from './use-save.ts'
import styles from './sso-page.module.css'
import settingsStyles from '../../../frames/settings.module.css'

const texts = ssoTexts.access
const ROLES = ['member', 'viewer'] as const

/** Who gets in, and whether passwords are still accepted. */
export function AccessCard({ config }: { config: SsoConfig }) {
  const save = useSaveSso(config, texts.saved, texts.failed)
  const noProvider = config.issuer === null ? texts.needsProvider : undefined
  const noDomain = config.domains.some(({ verified_at: at }) => at !== null) ? undefined : texts.needsDomain
  return (
    <Card title={texts.title}>
      <ul>
        <Choice
          name={texts.jit}
          more={texts.jitMore}
          checked={config.jit}
          why={noProvider ?? (config.jit ? undefined : noDomain)}
          onChange={(jit) => save.mutate({ jit })}
        />
        <Choice
          name={texts.enforced}
          more={texts.enforcedMore}
          checked={config.enforced}
          why={noProvider ?? (config.enforced ? undefined : noDomain)}
          onChange={(enforced) => save.mutate({ enforced })}
        />
      </ul>
      {config.jit ? (
        <div className={`${settingsStyles.body} ${styles.narrow}`}>
          <SelectField
            label={texts.role}
            value={config.default_role}
            onChange={(event) =>
              save.mutate({ default_role: ROLES.find((role) => role === event.target.value) ?? 'viewer' })
            }
          >
            {ROLES.map((role) => (
              <option key={role} value={role}>
                {texts.roles[role]}
              </option>
            ))}
          </SelectField>
        </div>
      ) : null}
    </Card>
  )
}

type ChoiceProps = {
  name: string
  more: string
  checked: boolean
  why: string | undefined
  onChange: (checked: boolean) => void
}

const Choice = ({ name, more, checked, why, onChange }: ChoiceProps) => (
  <SettingRow title={name} more={more}>
    <Switch label={name} checked={checked} why={why} onChange={onChange} />
  </SettingRow>
)
