import { createContext, use, useMemo, useState, type ReactNode } from 'react'
import type { AlertRule } from '../../api/alert-queries.ts'
import { SecretBox } from '../../forms/secret-box.tsx'
import { builderTexts } from './builder-texts.ts'
import styles from './fresh-secrets.module.css'

const texts = builderTexts.secretBox

type Fresh = { id: string; target: string; secret: string }

const Show = createContext<(rule: AlertRule) => void>(() => undefined)

/** Shows the secrets that the answer to a saved rule holds, if any. */
export const useFreshSecrets = () => use(Show)

const secretsOf = (rule: AlertRule): Fresh[] =>
  [...rule.actions, ...rule.escalation_actions].flatMap(({ id, secret, webhook_url: target = '' }) =>
    secret === undefined ? [] : [{ id, target, secret }],
  )

/** Shows each new signing secret once, above the page that made it. */
export function FreshSecrets({ children }: { children: ReactNode }) {
  const [fresh, setFresh] = useState<readonly Fresh[]>([])
  const show = useMemo(() => (rule: AlertRule) => setFresh((before) => [...before, ...secretsOf(rule)]), [])
  return (
    <Show value={show}>
      {fresh.length === 0 ? null : (
        <div className={styles.secrets}>
          {fresh.map(({ id, target, secret }) => (
            <SecretBox
              key={id}
              title={target === '' ? texts.title : texts.titleOf(target)}
              label={texts.label}
              secret={secret}
              lost={texts.lost}
              onStored={() => setFresh((before) => before.filter((one) => one.id !== id))}
            />
          ))}
        </div>
      )}
      {children}
    </Show>
  )
}
