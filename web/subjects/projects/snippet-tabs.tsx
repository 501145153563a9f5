import { platformName } from '#shared/platforms.ts'
import { useKeys } from '../../app/keys.ts'
import choiceStyles from '../../ui/choice.module.css'
import { classNames } from '../../ui/class-names.ts'
import { CodeBox } from '../../ui/code-box.tsx'
import { CopyButton, copyAndSay } from '../../ui/copy-button.tsx'
import fitStyles from '../../ui/fit.module.css'
import { Code } from '../../ui/highlight.tsx'
import { PlatformTile } from '../../ui/platform-tile.tsx'
import { Tabs } from '../../ui/tabs.tsx'
import { SNIPPET_PLATFORMS, snippetFor, type SnippetPlatform } from './snippets.ts'
import styles from './snippet-tabs.module.css'
import { projectsTexts as texts } from './texts.ts'

const TABS = SNIPPET_PLATFORMS.map((platform) => ({
  value: platform,
  label: platformName(platform),
  before: <PlatformTile platform={platform} quiet />,
}))

type SnippetTabsProps = { platform: SnippetPlatform; dsn: string; onChange: (platform: SnippetPlatform) => void }

/** The code that connects an SDK with this DSN, for each platform. */
export function SnippetTabs({ platform, dsn, onChange }: SnippetTabsProps) {
  const snippet = snippetFor(platform, dsn)
  useKeys([
    {
      keys: 'y',
      label: texts.copySnippet,
      group: 'Page',
      run: () => void copyAndSay(snippet.code, texts.snippetCopied),
    },
  ])
  return (
    <Tabs
      label={texts.platforms}
      className={classNames(styles.tabs, choiceStyles.raisedTabs, fitStyles.wraps, choiceStyles.hoverItems)}
      value={platform}
      tabs={TABS}
      onChange={onChange}
    >
      <div className={styles.code}>
        {snippet.install === null ? null : (
          <CodeBox
            title={<span>{texts.terminal}</span>}
            action={
              <CopyButton look="ghost" size="sm" text={snippet.install} said={texts.snippetCopied}>
                {texts.copy}
              </CopyButton>
            }
          >
            <CodeBlock label={texts.terminal} source={snippet.install} plain />
          </CodeBox>
        )}
        <CodeBox
          title={<span className={classNames(fitStyles.shrinks, fitStyles.ellipsis)}>{snippet.file}</span>}
          action={
            <CopyButton look="ghost" size="sm" keys="y" text={snippet.code} said={texts.snippetCopied}>
              {texts.copy}
            </CopyButton>
          }
        >
          <CodeBlock label={snippet.file} source={snippet.code} />
        </CodeBox>
      </div>
    </Tabs>
  )
}

/** Scrolls sideways, so it is focusable for keyboard users. */
function CodeBlock({ label, source, plain = false }: { label: string; source: string; plain?: boolean }) {
  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex
    <pre tabIndex={0} role="region" aria-label={label}>
      <code>{plain ? source : <Code source={source} />}</code>
    </pre>
  )
}
