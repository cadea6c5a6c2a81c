import { Moon, Sun } from 'lucide-react'
import { useState } from 'react'
import { changePrefs, type Theme } from '../prefs.ts'

/** Returns the current theme: the one that the visitor has chosen, or the system theme if there is none. */
function shownTheme(): Theme {
  const chosen = document.documentElement.dataset.theme
  if (chosen === 'light' || chosen === 'dark') return chosen
  return matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light'
}

/** The icon is selected in CSS, because the server cannot determine the system theme. */
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
