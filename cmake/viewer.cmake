# SPDX-License-Identifier: Apache-2.0
# flamelet_viewer(directory): makes viewer.js, viewer.css, record.js, record.css and viewer_hashes.h from ui/, and sets the
# variable to their directory. The page of a record has the viewer in it. esbuild is Debian's; nothing is downloaded.
# Without the viewer the scripts and style sheets are empty, and pages of HTML are plain ones.
option(FLAMELET_UI "Build the viewer into pages of HTML" ON)
find_program(ESBUILD esbuild)

function(flamelet_viewer variable)
	if(FLAMELET_UI AND NOT ESBUILD)
		message(WARNING "esbuild is missing: pages of HTML will be plain ones, without the viewer. "
			"Install Debian's package esbuild, or build with UI=off (FLAMELET_UI=OFF) to silence this.")
	endif()
	if(FLAMELET_UI AND ESBUILD)
		set(built ${CMAKE_CURRENT_BINARY_DIR}/viewer)
		set(ui ${CMAKE_SOURCE_DIR}/ui/src)
		file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${ui}/*.ts ${ui}/*.css)
		set(options --bundle --minify --log-level=warning --target=chrome100,firefox113,safari16.4)
		add_custom_command(OUTPUT ${built}/viewer.js ${built}/viewer.css ${built}/record.js ${built}/record.css
			COMMAND ${ESBUILD} ${ui}/main.ts ${options} --format=iife --outfile=${built}/viewer.js
			COMMAND ${ESBUILD} ${ui}/style.css ${options} --outfile=${built}/viewer.css
			COMMAND ${ESBUILD} ${ui}/record.ts ${options} --format=iife --outfile=${built}/record.js
			COMMAND ${ESBUILD} ${ui}/record.css ${options} --outfile=${built}/record.css
			DEPENDS ${sources} COMMENT "Viewer" VERBATIM)
	else()
		set(built ${CMAKE_CURRENT_BINARY_DIR}/no-viewer)
		foreach(file viewer.js viewer.css record.js record.css)
			if(NOT EXISTS ${built}/${file})
				file(WRITE ${built}/${file} "")
			endif()
		endforeach()
	endif()
	add_custom_command(OUTPUT ${built}/viewer_hashes.h
		COMMAND ${CMAKE_COMMAND} -D DIRECTORY=${built} -P ${CMAKE_SOURCE_DIR}/cmake/viewer-hashes.cmake
		DEPENDS ${built}/viewer.js ${built}/viewer.css ${CMAKE_SOURCE_DIR}/cmake/viewer-hashes.cmake
		COMMENT "Hashes of the viewer" VERBATIM)
	set(${variable} ${built} PARENT_SCOPE)
endfunction()
