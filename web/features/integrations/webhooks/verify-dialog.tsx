import { useState } from 'react'
import { IconButton } from '../../../ui/button.tsx'
import { CardHeader } from '../../../ui/card.tsx'
import choiceStyles from '../../../ui/choice.module.css'
import { classNames } from '../../../ui/class-names.ts'
import { CodeBox } from '../../../ui/code-box.tsx'
import { CopyButton } from '../../../ui/copy-button.tsx'
import { Dialog } from '../../../ui/dialog.tsx'
import fitStyles from '../../../ui/fit.module.css'
import { Code } from '../../../ui/highlight.tsx'
import { Spacer } from '../../../ui/stack.tsx'
import { Tabs } from '../../../ui/tabs.tsx'
import typeStyles from '../../../ui/type.module.css'
import { webhooksTexts } from './texts.ts'
import { VERIFY_SNIPPETS, type VerifySnippet } from './verify-snippets.ts'
import styles from './verify-dialog.module.css'

const texts = webhooksTexts.snippets
const TABS = VERIFY_SNIPPETS.map(({ id, label }) => ({ value: id, label }))

/** How a receiver checks the signature, in five languages. */
export function VerifyDialog({ onClose }: { onClose: () => void }) {
  const [language, setLanguage] = useState<VerifySnippet['id']>('node')
  const snippet = VERIFY_SNIPPETS.find(({ id }) => id === language)
  if (snippet === undefined) return null
  return (
    <Dialog open bare title={texts.title} onClose={onClose} className={fitStyles.wideDialog}>
      <CardHeader>
        <h2>{texts.title}</h2>
        <Spacer />
        <IconButton look="ghost" size="sm" icon="x" label={texts.close} onClick={onClose} />
      </CardHeader>
      <div className={classNames(styles.body, fitStyles.dialogBody)}>
        <p className={typeStyles.soft}>{texts.text}</p>
        <Tabs
          label={texts.languages}
          className={classNames(styles.tabs, choiceStyles.raisedTabs, choiceStyles.hoverItems)}
          value={language}
          tabs={TABS}
          onChange={setLanguage}
        >
          <CodeBox
            title={<span>{snippet.label}</span>}
            action={<CopyButton text={snippet.code} said={texts.copied} look="ghost" size="sm" />}
          >
            {/* Focusable, so that keys can scroll it. */}
            {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex */}
            <pre role="region" aria-label={snippet.label} tabIndex={0}>
              <code>
                <Code source={snippet.code} />
              </code>
            </pre>
          </CodeBox>
        </Tabs>
      </div>
    </Dialog>
  )
}
