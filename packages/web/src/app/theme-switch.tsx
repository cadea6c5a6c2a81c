import { Moon, Sun } from 'lucide-react'
import { useState } from 'react'
import { changePrefs, type Theme } from '../prefs.ts'

/** The current theme: the chosen one, otherwise the system's. */
function shownTheme(): Theme {
  const chosen = document.documentElement.dataset.theme
  if (chosen === 'light' || chosen === 'dark') return chosen
  return matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light'
}

/** CSS picks the icon, because the server does not know the system theme. */
export function ThemeSwitch() {
  const [said, setSaid] = useState('')

  function change() {
    const theme = shownTheme() === 'dark' ? 'light' : 'dark'
    changePrefs({ theme })
    setSaid(`${theme} theme`)
  }

  return (
    <button
      type="button"
      className="ctl-quiet"
      aria-label="Switch between light and dark theme"
      onClick={change}
    >
      <Moon size={18} aria-hidden className="dark:hidden" />
      <Sun size={18} aria-hidden className="hidden dark:block" />
      <span className="sr-only" role="status">
        {said}
      </span>
    </button>
  )
}
